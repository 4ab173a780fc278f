#include <nearfield/search/page_array.hpp>

#include <nearfield/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

  TEST(page_array, begins_a_line_and_keeps_its_values_over_64_kib)
  {
    for (std::size_t const n : {1, 100, 65'535, 65'536, 65'537, 200'000})
      for (std::size_t const m : {1, 1000, 65'535, 65'536, 70'000, 300'000})
      {
        page_array<unsigned char> values;
        values.resize(n);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0u);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<unsigned char>(i % 251);
        values.resize(m);
        values.shrink_to_fit();
        EXPECT_EQ(values.capacity(), m);
        page_array<unsigned char> const other = std::move(values);
        EXPECT_EQ(values.data(), nullptr); // NOLINT(bugprone-use-after-move)
        EXPECT_EQ(values.capacity(), 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.data()) % 64, 0u);
        bool kept = true;
        for (std::size_t i = 0; i < std::min(n, m); ++i) kept = kept && other[i] == i % 251;
        EXPECT_TRUE(kept) << n << " to " << m;
      }
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
