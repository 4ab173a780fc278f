// How boxes are cut into pieces of work for a GPU. No device is needed.

#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Boxes of the given counts; box b meets all points of the next b % 4 boxes.
    struct row_of_boxes
    {
      std::vector<index_type> offsets{0}, list_offsets{0};
      std::vector<interaction_list::range> own, ranges;

      explicit row_of_boxes(std::vector<index_type> const& counts)
      {
        for (index_type const count : counts)
        {
          own.push_back({.begin = offsets.back(), .end = offsets.back() + count});
          offsets.push_back(offsets.back() + count);
        }
        for (std::size_t b = 0; b < counts.size(); ++b)
        {
          std::size_t const last = std::min(counts.size() - 1, b + b % 4);
          ranges.push_back({.begin = own[b].end, .end = own[last].end});
          list_offsets.push_back(static_cast<index_type>(ranges.size()));
        }
      }

      [[nodiscard]] boxes points() const { return {offsets}; }
      [[nodiscard]] interaction_list list() const { return {own, list_offsets, ranges, {}}; }
      [[nodiscard]] int size_of_work(detail::cuda_item const& item) const
      {
        double const sources = static_cast<double>(own[item.box].end) - own[item.box].begin +
                               ranges[item.box].end - ranges[item.box].begin;
        return std::ilogb(item.count * sources + 1);
      }
    };

    row_of_boxes const row({0,    1,    16,  17,  20, 21, 31,  0, 32,  63,   64, 65,
                            127,  128,  129, 192, 1,  0,  255, 7, 256, 257,  40, 13,
                            1025, 4000, 3,   64,  2,  90, 11,  0, 17,  5000, 1,  0});

    void expect_every_target_once(detail::cuda_items const& found, index_type most)
    {
      std::vector<int> met(row.offsets.back());
      std::vector<index_type> least(row.own.size(), ~index_type(0)), greatest(row.own.size(), 0);
      for (detail::cuda_item const& item : found.items)
      {
        ASSERT_LT(item.box, row.own.size());
        ASSERT_GE(item.count, 1U);
        ASSERT_LE(item.count, most);
        ASSERT_GE(item.first, row.own[item.box].begin);
        ASSERT_LE(item.first + item.count, row.own[item.box].end);
        for (index_type i = 0; i < item.count; ++i) ++met[item.first + i];
        least[item.box] = std::min(least[item.box], item.count);
        greatest[item.box] = std::max(greatest[item.box], item.count);
      }
      EXPECT_EQ(met, std::vector<int>(met.size(), 1));
      for (std::size_t b = 0; b < row.own.size(); ++b)
        if (row.own[b].begin < row.own[b].end)
        {
          EXPECT_LE(greatest[b] - least[b], 1U) << "box " << b;
        }
    }

    void expect_larger_work_first(detail::cuda_items const& found, std::size_t first,
                                  std::size_t last)
    {
      for (std::size_t i = first + 1; i < last; ++i)
        EXPECT_GE(row.size_of_work(found.items[i - 1]), row.size_of_work(found.items[i]))
            << "item " << i;
    }
  }

  TEST(gather_items, hold_every_target_once_in_pieces_of_equal_size)
  {
    expect_every_target_once(detail::gather_items(row.points(), row.list()), gather_targets);
  }

  TEST(gather_items, stand_by_the_team_that_computes_them_and_by_their_work)
  {
    detail::cuda_items const found = detail::gather_items(row.points(), row.list());
    std::size_t const wide = found.n_wide, medium = wide + found.n_medium;
    ASSERT_GT(found.n_wide, 0U);
    ASSERT_GT(found.n_medium, 0U);
    ASSERT_LT(medium, found.items.size());
    for (std::size_t i = 0; i < found.items.size(); ++i)
    {
      int const count = static_cast<int>(found.items[i].count);
      EXPECT_EQ(i < wide, count >= gather_wide_targets) << count;
      EXPECT_EQ(i < medium, count >= gather_medium_targets) << count;
    }
    expect_larger_work_first(found, 0, wide);
    expect_larger_work_first(found, wide, medium);
    expect_larger_work_first(found, medium, found.items.size());
  }

  TEST(mutual_items, hold_every_target_once_with_larger_work_first)
  {
    detail::cuda_items const found = detail::mutual_items(row.points(), row.list());
    expect_every_target_once(found, mutual_targets_of_item);
    expect_larger_work_first(found, 0, found.items.size());
  }

  TEST(items, of_no_boxes_and_of_empty_boxes_are_none)
  {
    for (row_of_boxes const& none : {row_of_boxes({}), row_of_boxes({0, 0, 0})})
    {
      detail::cuda_items const gathered = detail::gather_items(none.points(), none.list());
      EXPECT_TRUE(gathered.items.empty());
      EXPECT_EQ(gathered.n_wide + gathered.n_medium, 0U);
      EXPECT_TRUE(detail::mutual_items(none.points(), none.list()).items.empty());
    }
  }

  TEST(items, count_pairs_beyond_32_bits)
  {
    index_type const many = 4000000000U;
    std::vector<index_type> const offsets{0, 3, 6}, list_offsets{0, 2, 3};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = 3},
                                                   {.begin = 0, .end = 1000}};
    std::vector<interaction_list::range> const ranges{
        {.begin = 0, .end = many}, {.begin = 0, .end = many}, {.begin = 0, .end = 2000}};
    detail::cuda_items const found =
        detail::gather_items({offsets}, {own, list_offsets, ranges, {}});
    ASSERT_EQ(found.items.size(), 2U);
    EXPECT_EQ(found.items[0].box, 0U);
    EXPECT_EQ(found.items[1].box, 1U);
  }

  // Numbers that only just fit, and their products do not: the items are few where they may be large.
  TEST(items, of_the_largest_box_hold_its_targets)
  {
    index_type const many = 4294967200U, most = 1U << 30;
    std::vector<index_type> const offsets{0, many}, list_offsets{0, 0};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = many}};
    interaction_list const list{own, list_offsets, {}, {}};
    for (detail::cuda_items const& found :
         {detail::gather_items({offsets}, list, most), detail::mutual_items({offsets}, list, most)})
    {
      ASSERT_EQ(found.items.size(), 4U);
      std::uint64_t next = 0;
      for (detail::cuda_item const& item : found.items)
      {
        EXPECT_EQ(item.first, next);
        EXPECT_LE(item.count, most);
        next += item.count;
      }
      EXPECT_EQ(next, many);
    }
  }
}
