#include <nearfield/core/boxes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  using ::testing::ElementsAre;

  TEST(boxes, are_the_gaps_between_offsets)
  {
    std::vector<index_type> const offsets{0, 3, 3, 8};
    boxes const three{offsets};
    EXPECT_EQ(three.size(), 3);
    EXPECT_EQ(three.begin(2), 3);
    EXPECT_EQ(three.end(0), 3);
    EXPECT_EQ(three.count(0), 3);
    EXPECT_EQ(three.count(1), 0);
    EXPECT_EQ(three.count(2), 5);
  }

  TEST(boxes, may_be_none)
  {
    std::vector<index_type> const zero{0};
    EXPECT_EQ(boxes{}.size(), 0);
    EXPECT_EQ(boxes{zero}.size(), 0);
  }

  TEST(interaction_list, gives_the_ranges_of_one_box)
  {
    std::vector<interaction_list::range> const own{{0, 3}, {3, 8}}, ranges{{3, 8}, {0, 2}, {2, 3}};
    std::vector<index_type> const offsets{0, 1, 3};
    interaction_list const list{own, offsets, ranges, {}};
    EXPECT_THAT(list.neighbours(0), ElementsAre(interaction_list::range{3, 8}));
    EXPECT_THAT(list.neighbours(1),
                ElementsAre(interaction_list::range{0, 2}, interaction_list::range{2, 3}));
    EXPECT_EQ(list.source_count(0), 3 + 5);
    EXPECT_EQ(list.source_count(1), 5 + 2 + 1);
  }

  TEST(interaction_list, ranges_differ_by_set_and_shift)
  {
    interaction_list::range const range{1, 2};
    EXPECT_EQ(range, (interaction_list::range{1, 2, 0, 0}));
    EXPECT_NE(range, (interaction_list::range{1, 2, 1, 0}));
    EXPECT_NE(range, (interaction_list::range{1, 2, 0, 1}));
    EXPECT_NE(range, (interaction_list::range{1, 3}));
    EXPECT_NE(range, (interaction_list::range{0, 2}));
  }

  TEST(kept_span, takes_what_outlives_it)
  {
    using span_type = detail::kept_span<int const>;
    static_assert(std::is_constructible_v<span_type, std::vector<int>&>);
    static_assert(std::is_constructible_v<span_type, std::span<int>>);
    static_assert(std::is_constructible_v<span_type, std::span<int, 3>>);
    static_assert(!std::is_constructible_v<span_type, std::vector<int>>);
    static_assert(!std::is_constructible_v<span_type, std::array<int, 3>>);
    static_assert(std::ranges::view<span_type> && std::ranges::borrowed_range<span_type>);
    std::vector<int> const values{3, 1, 2};
    EXPECT_EQ(&*std::ranges::find(span_type(values), 1), &values[1]);
  }
}
