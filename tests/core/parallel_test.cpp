#include <nearfield/core/parallel.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace nearfield::detail
{
  using testing::ElementsAre;

  TEST(parallel, sums_before_items_are_those_of_one_thread)
  {
    for (std::size_t const n : {0, 1, 1023, 2048, 5000})
    {
      auto const value = [](std::size_t i)
      {
        return std::uint64_t(i * i % 101) << 40;
      };
      std::vector<std::uint64_t> expected{0};
      for (std::size_t i = 0; i < n; ++i) expected.push_back(expected.back() + value(i));
      threads many(3);
      for (executor* const on : {static_cast<executor*>(nullptr), static_cast<executor*>(&many)})
      {
        std::vector<std::uint64_t> sums(n + 1, 7);
        sum_before(threads_or_here(on), std::span(sums), value);
        EXPECT_EQ(sums, expected) << n;
      }
    }
  }

  TEST(parallel, items_are_cut_at_about_equal_sums)
  {
    std::vector<double> const sums{0, 1, 2, 3, 103, 104, 105};
    auto const cut_at = [&](index_type begin, index_type end, std::size_t n)
    {
      std::vector<index_type> first{begin};
      cut_evenly(sums, end, n, first);
      return first;
    };
    EXPECT_THAT(cut_at(0, 6, 1), ElementsAre(0, 6));
    EXPECT_THAT(cut_at(0, 6, 3), ElementsAre(0, 4, 6)) << "one item is more than a part";
    EXPECT_THAT(cut_at(0, 3, 3), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(cut_at(4, 6, 5), ElementsAre(4, 5, 6)) << "more parts than items";
    EXPECT_THAT(cut_at(6, 6, 2), ElementsAre(6)) << "no items";
  }

  TEST(parallel, items_begin_in_order)
  {
    std::vector<std::size_t> begun;
    for_each_item(threads_or_here(nullptr), 4, [&](std::size_t i) { begun.push_back(i); });
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3));
  }
}
