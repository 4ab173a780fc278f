#include <nearfield/search/page_array.hpp>

#include <nearfield/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>

namespace nearfield::test
{
  TEST(page_array, keeps_its_values_as_it_grows_and_shrinks)
  {
    page_array<std::uint32_t> values;
    EXPECT_TRUE(values.empty());
    values.resize(1000);
    std::iota(values.begin(), values.end(), 0u);
    auto const holds = [&](std::size_t n)
    {
      for (std::size_t i = 0; i < n; ++i)
        if (values[i] != i) return false;
      return true;
    };
    values.resize(5'000'000);
    EXPECT_TRUE(holds(1000));
    std::iota(values.begin(), values.end(), 0u);
    values.resize(2'000'000);
    EXPECT_GE(values.capacity(), 5'000'000u);
    values.shrink_to_fit();
    EXPECT_EQ(values.capacity(), 2'000'000u);
    EXPECT_TRUE(holds(2'000'000));
    page_array<std::uint32_t> other = std::move(values);
    EXPECT_EQ(other.size(), 2'000'000u);
    EXPECT_TRUE(values.empty()); // NOLINT(bugprone-use-after-move)
    std::swap(values, other);
    EXPECT_TRUE(holds(2'000'000));
    values.resize(0);
    values.shrink_to_fit();
    EXPECT_EQ(values.capacity(), 0u);
  }

  TEST(page_array, reserves_what_it_does_not_use)
  {
    page_array<double> values;
    if (!values.try_reserve(std::size_t(1) << 35)) GTEST_SKIP() << "address space is limited here";
    values.resize(10);
    values[9] = 1;
    EXPECT_EQ(values[9], 1);
  }

  TEST(page_array, says_when_there_is_no_room)
  {
    page_array<double> values;
    EXPECT_FALSE(values.try_reserve(std::size_t(1) << 62));
    EXPECT_FALSE(values.try_reserve((std::size_t(1) << 61) + 1)) << "8 bytes, modulo 2^64";
    EXPECT_THROW(values.resize(std::size_t(1) << 58), error);
    EXPECT_TRUE(values.empty());
  }
}
