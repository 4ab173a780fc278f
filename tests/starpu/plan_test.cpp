#include "environment.hpp"
#include "kernels/src/p2p/plan.hpp"
#include "points.hpp"

#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using nearfield::detail::plan_gather;
  using nearfield::detail::plan_mutual;
  using testing::AllOf;
  using testing::HasSubstr;

  constexpr index_type two_to_31 = index_type(1) << 31;

  /// Two leaves that meet, a group each, of so many points; there are no points, plans only count them.
  struct two_leaves
  {
    std::vector<index_type> offsets, first_leaf{0, 1, 2};
    std::vector<interaction_list::range> own, ranges;
    std::vector<index_type> range_offsets{0, 1, 1};

    two_leaves(index_type first, index_type second)
        : offsets{0, first, first + second}, own{{0, first}, {first, first + second}},
          ranges{{first, first + second}}
    {}
    [[nodiscard]] nearfield::detail::leaf_groups_view view() const
    {
      nearfield::detail::leaf_groups_view result;
      result.first_leaf = first_leaf;
      result.targets = result.sources = {offsets};
      result.full = result.half = {own, range_offsets, ranges, {}};
      return result;
    }
  };

  TEST(step_plan, groups_have_the_interactions_of_their_leaves)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 900);
    auto const y = make_points<double, 3>(cloud::uniform, 500);
    tree_options<3> const options{.max_leaf_size = 20};
    auto const one = build_tree(x.view(), options), two = build_tree(x.view(), y.view(), options);
    auto const pairs_of = [](nearfield::detail::step_plan const& plan)
    {
      double pairs = 0;
      for (auto const& group : plan.groups) pairs += group.interactions;
      return pairs;
    };
    auto const groups = group_leaves(one, {.leaves_per_group = 7});
    auto const of_two = group_leaves(two, {.leaves_per_group = 7});
    auto const all = static_cast<double>(one.interaction_count());
    EXPECT_EQ(pairs_of(plan_gather(groups.view(), false)), all);
    EXPECT_EQ(pairs_of(plan_mutual(groups.view(), false)), all);
    EXPECT_EQ(pairs_of(plan_gather(of_two.view(), false)),
              static_cast<double>(two.interaction_count()));
  }

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

  TEST(plan_mutual, has_at_most_65535_sets_however_many_ranges_are_met)
  {
    // leaves of one point; the first, a group of its own, meets every second one of the others
    constexpr index_type n_met = 70'000, n = 2 * n_met + 1;
    std::vector<index_type> offsets(n + 1), range_offsets(n + 1, n_met);
    std::iota(offsets.begin(), offsets.end(), 0u);
    range_offsets[0] = 0;
    std::vector<interaction_list::range> own, ranges;
    for (index_type b = 0; b < n; ++b) own.push_back({b, b + 1});
    for (index_type i = 0; i < n_met; ++i) ranges.push_back({2 * i + 2, 2 * i + 3});
    std::vector<index_type> const first_leaf{0, 1, n};
    nearfield::detail::leaf_groups_view groups;
    groups.first_leaf = first_leaf;
    groups.targets = groups.sources = {offsets};
    groups.full = groups.half = {own, range_offsets, ranges, {}};

    auto const plan = plan_mutual(groups, false, 3);
    auto const& first = plan.groups[0];
    EXPECT_LE(first.head.n_sets, 65535u);
    nearfield::detail::task_list_view const list(first.head, first.list.data());
    ASSERT_EQ(first.head.n_ranges, n_met);
    for (index_type i = 0; i < n_met; ++i)
    {
      interaction_list::range const& range = list.ranges[i];
      ASSERT_LT(range.set, first.head.n_sets);
      nearfield::detail::source_set const& set = list.sets[range.set];
      ASSERT_EQ(plan.source_chunks[first.source_chunks[set.allocation]].begin + set.begin +
                    range.begin,
                ranges[i].begin);
      ASSERT_EQ(range.end - range.begin, 1u);
    }
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
