// to = h scale (from - origin) on the device: the bits of the loop on the host.
#include "core/src/cuda/scaled_copy.hpp"

#include "points.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class T>
    std::vector<T> numbers(std::size_t n, std::uint64_t seed)
    {
      random_numbers random(seed);
      std::vector<T> result(n);
      for (T& value : result) value = static_cast<T>(random.uniform(-1, 1));
      return result;
    }

    template <class From, class To>
    void expect_bits_of_the_host(std::size_t n, bool is_scaled, bool accumulate)
    {
      SCOPED_TRACE(std::to_string(n) + (is_scaled ? " scaled" : "") + (accumulate ? " +=" : ""));
      auto const scale = numbers<double>(n, 9);
      std::vector<std::vector<From>> from;
      std::vector<std::vector<To>> to;
      std::vector<device_array<From>> device_from;
      std::vector<device_array<To>> device_to;
      for (std::uint64_t c = 0; c < 3; ++c)
      {
        device_from.emplace_back(std::span<From const>(from.emplace_back(numbers<From>(n, c))));
        device_to.emplace_back(std::span<To const>(to.emplace_back(numbers<To>(n, c + 5))));
      }
      device_array<double> const device_scale{std::span<double const>(scale)};
      From const* const columns[] = {device_from[0].data(), device_from[1].data(),
                                     device_from[2].data()};
      To* const out[] = {device_to[0].data(), device_to[1].data(), device_to[2].data()};
      double const h = 0.1;
      device_array<std::uint32_t> not_finite(1);
      detail::device_clear(not_finite.data(), sizeof(std::uint32_t), nullptr);
      detail::device_scaled_copy(nullptr, n, 3, h, columns, out,
                                 {.scale = is_scaled ? device_scale.data() : nullptr,
                                  .origin = {0, 0.3, -7},
                                  .accumulate = accumulate,
                                  .not_finite = not_finite.data()});
      for (std::size_t c = 0; c < 3; ++c)
      {
        std::vector<To> got(n);
        device_to[c].copy_to(got);
        for (std::size_t i = 0; i < n; ++i)
        {
          // volatile: three roundings
          double const origins[] = {0, 0.3, -7};
          double const volatile moved = static_cast<double>(from[c][i]) - origins[c];
          double const volatile scaled = moved * (is_scaled ? scale[i] : 1);
          double const volatile product = h * scaled;
          double const sum = accumulate ? static_cast<double>(to[c][i]) + product : product;
          ASSERT_EQ(got[i], static_cast<To>(sum)) << c << " " << i;
        }
      }
      std::uint32_t found = 1;
      not_finite.copy_to({&found, 1});
      EXPECT_EQ(found, 0u);
    }
  }

  TEST(device_scaled_copy, gives_the_bits_of_the_host)
  {
    for (std::size_t const n : {0, 1, 255, 256, 257, 100'000})
      for (bool const is_scaled : {false, true})
        for (bool const accumulate : {false, true})
        {
          expect_bits_of_the_host<double, double>(n, is_scaled, accumulate);
          expect_bits_of_the_host<double, float>(n, is_scaled, accumulate);
          expect_bits_of_the_host<float, double>(n, is_scaled, accumulate);
        }
  }

  TEST(device_scaled_copy, tells_of_a_result_that_is_not_finite)
  {
    auto const found = []<class To>(double value, To)
    {
      std::vector<double> const from{1, 2, value, 4};
      device_array<double> const there{std::span<double const>(from)};
      device_array<To> to(4);
      device_array<std::uint32_t> not_finite(1);
      detail::device_clear(not_finite.data(), sizeof(std::uint32_t), nullptr);
      double const* const columns[] = {there.data()};
      To* const out[] = {to.data()};
      detail::device_scaled_copy(nullptr, 4, 1, 1, columns, out, {.not_finite = not_finite.data()});
      std::uint32_t flag = 2;
      not_finite.copy_to({&flag, 1});
      return flag;
    };
    EXPECT_EQ(found(3, double()), 0u);
    EXPECT_EQ(found(1e39, double()), 0u);
    EXPECT_EQ(found(1e39, float()), 1u); // beyond f32
    EXPECT_EQ(found(std::nan(""), double()), 1u);
    EXPECT_EQ(found(-std::numeric_limits<double>::infinity(), double()), 1u);
  }

  TEST(device_scaled_copy, refuses_more_columns_than_a_launch_takes)
  {
    double const* const from[4] = {};
    double* const to[4] = {};
    EXPECT_THROW(detail::device_scaled_copy(nullptr, 1, 4, 1, from, to), error);
  }
}
