// Columns between the host and a GPU, through pieces of pinned memory.
#include "app/src/threads.hpp"
#include "core/src/cuda/staging.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using detail::staged_column, detail::staging;

    // A size around each whole number of small pieces (512 KiB), and around the turns of a lane; the last but one has the
    // largest pieces, and the last small ones in their memory.
    std::vector<std::size_t> sizes(std::size_t value_bytes)
    {
      std::size_t const piece = (std::size_t(1) << 19) / value_bytes;
      return {0,
              1,
              piece - 1,
              piece,
              piece + 1,
              2 * piece,
              3 * piece + 7,
              41 * piece + 5,
              300 * piece + 5,
              17 * piece + 3};
    }

    template <class T>
    struct staged : testing::Test
    {
      static std::vector<T> values(std::size_t n, T first)
      {
        std::vector<T> result(n);
        std::iota(result.begin(), result.end(), first);
        return result;
      }
      static staged_column out_of(std::vector<T> const& from, device_array<T>& to)
      {
        return {to.data(), from.size(), sizeof(T),
                [&from](void* piece, std::size_t first, std::size_t n)
                {
                  std::copy_n(from.data() + first, n, static_cast<T*>(piece));
                }};
      }
      static staged_column into(device_array<T>& from, std::vector<T>& to)
      {
        return {from.data(), to.size(), sizeof(T),
                [&to](void* piece, std::size_t first, std::size_t n)
                {
                  std::copy_n(static_cast<T const*>(piece), n, to.data() + first);
                }};
      }
    };
    using types = testing::Types<std::uint32_t, std::uint64_t>;
    TYPED_TEST_SUITE(staged, types);
  }

  TYPED_TEST(staged, columns_arrive_in_both_directions)
  {
    using T = TypeParam;
    for (int const n_threads : {1, 2, 8})
    {
      app::threads on(n_threads);
      staging bus(n_threads);
      for (std::size_t const n : sizes(sizeof(T)))
      {
        SCOPED_TRACE(std::to_string(n_threads) + " threads, " + std::to_string(n) + " values");
        auto const x = this->values(n, 1), y = this->values(n / 2 + 1, 1'000'000'000);
        device_array<T> there_x(x.size()), there_y(y.size());
        bus.upload(on, std::vector{this->out_of(x, there_x), this->out_of(y, there_y)}, nullptr);
        // by the driver's own copy
        std::vector<T> plain(x.size());
        there_x.copy_to(plain);
        EXPECT_TRUE(plain == x);
        std::vector<T> back_x(x.size()), back_y(y.size());
        bus.download(on, std::vector{this->into(there_x, back_x), this->into(there_y, back_y)},
                     nullptr);
        EXPECT_TRUE(back_x == x);
        EXPECT_TRUE(back_y == y);
      }
    }
  }

  // What is put into the stream before comes first, and the copy is done when the call returns.
  TEST(staging, follows_the_work_of_the_stream)
  {
    using T = std::uint32_t;
    std::size_t const n = 5'000'000;
    app::threads on(4);
    staging bus(4);
    auto const x = staged<T>::values(n, 1);
    device_array<T> there(n);
    // long enough for a copy that does not wait to come first
    auto const clear_late = [&]
    {
      auto const sleep = [](void*)
      {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      };
      ASSERT_EQ(cudaLaunchHostFunc(nullptr, sleep, nullptr), cudaSuccess);
      detail::device_clear(there.data(), n * sizeof(T), nullptr);
    };
    for (int repetition = 0; repetition < 2; ++repetition)
    {
      clear_late();
      bus.upload(on, std::vector{staged<T>::out_of(x, there)}, nullptr);
      std::vector<T> back(n);
      bus.download(on, std::vector{staged<T>::into(there, back)}, nullptr);
      ASSERT_TRUE(back == x);
      clear_late();
      bus.download(on, std::vector{staged<T>::into(there, back)}, nullptr);
      ASSERT_TRUE(back == std::vector<T>(n));
    }
  }

  TEST(staging, an_exception_of_the_host_comes_back_and_the_next_copy_is_right)
  {
    using T = std::uint32_t;
    std::size_t const n = 3'000'000;
    app::threads on(4);
    staging bus(4);
    auto const x = staged<T>::values(n, 7);
    device_array<T> there(n);
    auto failing = staged<T>::out_of(x, there);
    std::atomic<int> n_calls{0};
    failing.host = [&](void*, std::size_t, std::size_t)
    {
      if (++n_calls == 9) throw std::runtime_error("the ninth");
    };
    EXPECT_THROW(bus.upload(on, std::vector{failing}, nullptr), std::runtime_error);
    n_calls = 0;
    EXPECT_THROW(bus.download(on, std::vector{failing}, nullptr), std::runtime_error);
    bus.upload(on, std::vector{staged<T>::out_of(x, there)}, nullptr);
    std::vector<T> back(n);
    there.copy_to(back);
    EXPECT_TRUE(back == x);
  }
}
