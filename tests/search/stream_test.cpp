#include "search/src/stream.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// n values that begin a line.
    class aligned_indices
    {
    public:
      explicit aligned_indices(std::size_t n) : values_(n + 2 * detail::line_size, none) {}
      index_type* data() { return values_.data() + detail::places_to_line(values_.data()); }

      static constexpr index_type none = 77;

    private:
      std::vector<index_type> values_;
    };
  }

  TEST(stream, rows_follow_each_other)
  {
    constexpr std::size_t n = 3000;
    std::vector<index_type> i, j;
    std::mt19937 random(1);
    std::vector<index_type> row(200);
    for (std::size_t const at : {0, 1, 15, 16, 100})
    {
      aligned_indices to_i(n), to_j(n);
      i.assign(at, 1);
      j.assign(at, 2);
      std::copy(i.begin(), i.end(), to_i.data());
      std::copy(j.begin(), j.end(), to_j.data());
      detail::pair_stream stream;
      EXPECT_FALSE(stream.begun());
      stream.begin(to_i.data(), to_j.data(), at);
      while (i.size() < n - 100)
      {
        std::iota(row.begin(), row.end(), index_type(random()));
        index_type const count = random() % 90;
        stream.add(row[0] + 5, row.data(), count);
        i.insert(i.end(), count, row[0] + 5);
        j.insert(j.end(), row.begin(), row.begin() + count);
      }
      stream.finish();
      EXPECT_TRUE(std::equal(i.begin(), i.end(), to_i.data())) << at;
      EXPECT_TRUE(std::equal(j.begin(), j.end(), to_j.data())) << at;
      EXPECT_EQ(to_i.data()[i.size()], aligned_indices::none);
      EXPECT_EQ(to_j.data()[j.size()], aligned_indices::none);
    }
  }

  TEST(stream, copies_to_any_place)
  {
    std::vector<index_type> from(200);
    std::iota(from.begin(), from.end(), 100u);
    for (std::size_t at = 1; at < 34; ++at)
      for (std::size_t const n : {0, 1, 15, 16, 17, 31, 100})
      {
        aligned_indices to(200);
        detail::stream_copy(from.data() + 1, n, to.data() + at);
        EXPECT_TRUE(
            std::equal(from.begin() + 1, from.begin() + 1 + static_cast<int>(n), to.data() + at));
        EXPECT_EQ(to.data()[at - 1], aligned_indices::none);
        EXPECT_EQ(to.data()[at + n], aligned_indices::none);
      }
  }

  TEST(stream, long_lists_are_those_that_visit_sees)
  {
    std::vector<double> x(2000), y(2000);
    std::mt19937 random(2);
    for (auto* const column : {&x, &y})
      for (double& value : *column) value = random() * 0x1p-32;
    cell_list const cells{soa<double const, 2>({x.data(), y.data()}, x.size()), 1.};
    auto const list = radius_search(simd, cells, to_coo{});
    ASSERT_GT(list.size(), detail::cached_pairs + 1000);
    std::size_t at = 0;
    bool same = true;
    radius_search(simd, cells,
                  visit{[&](index_type i, index_type j, double)
                        {
                          same = same && at < list.size() && list.i[at] == i && list.j[at] == j;
                          ++at;
                        }});
    EXPECT_TRUE(same);
    EXPECT_EQ(at, list.size());
  }
}
