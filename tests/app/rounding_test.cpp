#include "rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace nearfield::app;

namespace
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double beyond_f32 = 1e39;
}

TEST(rounding, columns_of_every_length)
{
  for (std::size_t n = 0; n < 40; ++n)
  {
    std::vector<double> from(n);
    for (std::size_t i = 0; i < n; ++i) from[i] = 0.1 * static_cast<double>((7 * i) % n) - 1;
    std::vector<float> to(n);
    double distance = 0, rounded_distance = 0;
    auto const found = round_values(std::span<double const>(from), 0.25, 0.3, to.data());
    for (std::size_t i = 0; i < n; ++i)
    {
      EXPECT_EQ(to[i], static_cast<float>(from[i] - 0.25));
      distance = std::max(distance, std::abs(from[i] - 0.3));
      rounded_distance = std::max(rounded_distance, std::abs(double(to[i]) - (0.3 - 0.25)));
    }
    EXPECT_TRUE(found.is_finite);
    EXPECT_EQ(found.distance, distance);
    EXPECT_EQ(found.rounded_distance, rounded_distance);
    EXPECT_EQ(round_values<double>(from, 0, 0.3, nullptr).rounded_distance, distance);
  }
}

TEST(rounding, a_value_that_is_not_finite_at_every_place)
{
  for (std::size_t n : {1, 7, 8, 9, 31})
    for (std::size_t i = 0; i < n; ++i)
      for (double const value : {infinity, -infinity, std::nan(""), beyond_f32})
      {
        std::vector<double> from(n, 1);
        from[i] = value;
        std::vector<float> to(n);
        EXPECT_FALSE(round_values(std::span<double const>(from), 0, 0, to.data()).is_finite);
        EXPECT_EQ(round_values<double>(from, 0, 0, nullptr).is_finite, value == beyond_f32);
      }
}

TEST(rounding, ranges_add_up)
{
  value_range sum{true, 1, 4};
  sum.add({true, 3, 2});
  EXPECT_TRUE(sum.is_finite);
  EXPECT_EQ(sum.distance, 3);
  EXPECT_EQ(sum.rounded_distance, 4);
  sum.add({false, 0, 0});
  sum.add({true, 0, 0});
  EXPECT_FALSE(sum.is_finite);
}

TEST(rounding, extents_of_every_length)
{
  for (std::size_t n = 1; n < 40; ++n)
    for (std::size_t i = 0; i < n; ++i)
    {
      std::vector<double> values(n, 2);
      values[i] = i % 2 ? 5 : -5;
      auto const found = extent_of(values);
      EXPECT_EQ(found.lower, std::min(values[i], n > 1 ? 2. : 9.));
      EXPECT_EQ(found.upper, std::max(values[i], n > 1 ? 2. : -9.));
    }
}

TEST(rounding, an_origin_is_far_from_zero_and_loses_nothing)
{
  EXPECT_EQ(rounding_origin(extent_of({})), 0);
  EXPECT_EQ(rounding_origin({0, 1}), 0);
  EXPECT_EQ(rounding_origin({3, 5}), 0); // four half widths
  EXPECT_EQ(rounding_origin({3.125, 5.125}), 4);
  EXPECT_EQ(rounding_origin({0.3, 0.3}), 0.3);
  EXPECT_EQ(rounding_origin({-1e8 - 0.5, -1e8 + 0.5}), -1e8);
  EXPECT_EQ(rounding_origin({-infinity, infinity}), 0);
  // what float represents it represents after the subtraction
  for (double const first : {3.125f, 1e8f, -7e-20f})
  {
    auto x = static_cast<float>(first);
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i, x = std::nextafter(x, infinity)) values.push_back(x);
    double const origin = rounding_origin(extent_of(values));
    EXPECT_NE(origin, 0);
    for (double const value : values) EXPECT_EQ(static_cast<float>(value - origin), value - origin);
  }
}
