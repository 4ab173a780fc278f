#include "environment.hpp"
#include "runtime/src/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using nearfield::detail::plan_mutual;
  using testing::AllOf;
  using testing::HasSubstr;

  constexpr index_type two_to_31 = index_type(1) << 31;

  /// Two leaves that meet, a group each, of so many points; there are no points, plans only count them.
  struct two_leaves
  {
    std::vector<index_type> offsets, first_leaf{0, 1, 2};
    std::vector<source_range> own, ranges;
    std::vector<index_type> range_offsets{0, 1, 1};

    two_leaves(index_type first, index_type second)
        : offsets{0, first, first + second}, own{{0, first}, {first, first + second}},
          ranges{{first, first + second}}
    {}
    [[nodiscard]] leaf_groups_view view() const
    {
      leaf_groups_view result;
      result.first_leaf = first_leaf;
      result.targets = result.sources = {offsets};
      result.full = result.half = {own, range_offsets, ranges, {}};
      return result;
    }
  };

  TEST(plan_mutual, on_gpus_a_group_has_and_reaches_fewer_than_2_to_the_31_points)
  {
    for (auto const& [first, second] : {std::pair{two_to_31, 5u}, std::pair{5u, two_to_31}})
    {
      two_leaves const leaves(first, second);
      EXPECT_THAT(message_of([&] { static_cast<void>(plan_mutual(leaves.view(), true)); }),
                  AllOf(HasSubstr("2147483648"), HasSubstr("form one_sided")));
      EXPECT_NO_THROW(static_cast<void>(plan_mutual(leaves.view(), false))) << "CPUs can";
    }
    two_leaves const fits(300, 5);
    EXPECT_NO_THROW(static_cast<void>(plan_mutual(fits.view(), true)));
  }

  TEST(plan_mutual, takes_more_chunks_than_a_list_has_sets)
  {
    // as many as there are groups, however many are allowed
    two_leaves const leaves(3, 5);
    nearfield::detail::step_plan const plan = plan_mutual(leaves.view(), false, 1 << 20);
    EXPECT_EQ(plan.source_chunks.size(), 2u);
    EXPECT_EQ(plan.groups[0].halo_size, 5u);
  }
}
