#pragma once

#include "points.hpp"

#include <baselines/half_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nearfield::test
{
  inline constexpr std::size_t n_search_points = 2000;

  /// Stretched by 2 on the first axis and by 1/2 on the last, so that a search that swaps axes fails.
  template <class T>
  points<T, 3> search_points(cloud shape)
  {
    auto result = make_points<T, 3>(shape, n_search_points, 5);
    for (T& x : result.columns[0]) x *= 2;
    for (T& z : result.columns[2]) z /= 2;
    return result;
  }

  /// Whether i and j are a pair as nearfield defines it. The baselines test d2 < R2 in this
  /// precision too.
  template <class T, class X>
  bool are_near(X const& x, X const& y, X const& z, std::size_t i, std::size_t j, T cutoff)
  {
    T const dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
    // volatile: the compiler must not fuse the products with the sums
    T const volatile xx = dx * dx, yy = dy * dy, zz = dz * dz, r2 = cutoff * cutoff;
    return (xx + yy) + zz < r2;
  }

  template <class T>
  std::size_t count_half_pairs(points<T, 3> const& all, T cutoff)
  {
    std::size_t count = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        count += are_near(all.columns[0], all.columns[1], all.columns[2], i, j, cutoff);
    return count;
  }

  /// Expects `count` pairs, all different and each of two near points; so they are all pairs.
  template <class T, class X>
  void expect_half_pairs(baseline::pair_columns const& pairs, X const& x, X const& y, X const& z,
                         T cutoff, std::size_t count)
  {
    ASSERT_EQ(pairs.i.size(), count);
    ASSERT_EQ(pairs.j.size(), count);
    std::vector<std::pair<int, int>> found;
    for (std::size_t p = 0; p < count; ++p)
    {
      auto const [low, high] = std::minmax(pairs.i[p], pairs.j[p]);
      ASSERT_GE(low, 0);
      ASSERT_LT(std::size_t(high), x.size());
      ASSERT_NE(low, high);
      EXPECT_TRUE(are_near(x, y, z, std::size_t(low), std::size_t(high), cutoff));
      found.emplace_back(low, high);
    }
    std::ranges::sort(found);
    EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  }
}
