// Columns between the host and a GPU, through pieces of pinned memory.
#include "core/src/cuda/staging.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
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
      threads on(n_threads);
      auto const bus = staging::make(n_threads);
      for (std::size_t const n : sizes(sizeof(T)))
      {
        SCOPED_TRACE(std::to_string(n_threads) + " threads, " + std::to_string(n) + " values");
        auto const x = this->values(n, 1), y = this->values(n / 2 + 1, 1'000'000'000);
        device_array<T> there_x(x.size()), there_y(y.size());
        bus->upload(on, std::vector{this->out_of(x, there_x), this->out_of(y, there_y)}, nullptr);
        // by the driver's own copy
        std::vector<T> plain(x.size());
        there_x.copy_to(plain);
        EXPECT_TRUE(plain == x);
        std::vector<T> back_x(x.size()), back_y(y.size());
        bus->download(on, std::vector{this->into(there_x, back_x), this->into(there_y, back_y)},
                      nullptr);
        EXPECT_TRUE(back_x == x);
        EXPECT_TRUE(back_y == y);
      }
    }
  }

  // Columns that the caller has pinned, whole or in part, beside others.
  TEST(staging, pinned_columns_need_no_pieces)
  {
    using T = std::uint32_t;
    std::size_t const n = 1 << 20, page = 4096 / sizeof(T);
    threads on(2);
    auto const bus = staging::make(2);
    struct pages
    {
      void operator()(T* memory) const { std::free(memory); }
    };
    auto const make = [&](T first)
    {
      std::unique_ptr<T, pages> values(static_cast<T*>(std::aligned_alloc(4096, n * sizeof(T))));
      std::iota(values.get(), values.get() + n, first);
      return values;
    };
    auto const x = make(1), y = make(1'000'000'000);
    auto const pin = [](T* first, std::size_t size)
    {
      ASSERT_EQ(cudaHostRegister(first, size * sizeof(T), cudaHostRegisterDefault), cudaSuccess);
    };
    auto const unpin = [](T* first)
    {
      ASSERT_EQ(cudaHostUnregister(first), cudaSuccess);
    };
    /// The columns arrive and come back; those that are not pinned by calls of `host`.
    auto const expect_both = [&](bool x_goes_through_pieces, std::size_t begin)
    {
      device_array<T> there_x(n - begin), there_y(n);
      std::atomic<int> n_calls{0};
      auto const counted = [&](staged_column column)
      {
        column.host = [&, host = column.host](void* piece, std::size_t first, std::size_t some)
        {
          ++n_calls;
          host(piece, first, some);
        };
        return column;
      };
      bus->upload(
          on,
          std::vector{counted(detail::column_from(x.get() + begin, there_x.data(), n - begin)),
                      detail::column_from(y.get(), there_y.data(), n)},
          nullptr);
      EXPECT_EQ(n_calls > 0, x_goes_through_pieces);
      std::vector<T> plain(n - begin);
      there_x.copy_to(plain);
      EXPECT_TRUE(std::equal(plain.begin(), plain.end(), x.get() + begin));
      std::vector<T> const expected(x.get(), x.get() + n), other(y.get(), y.get() + n);
      std::fill_n(x.get() + begin, n - begin, 0);
      std::fill_n(y.get(), n, 0);
      n_calls = 0;
      bus->download(on,
                    std::vector{counted(detail::column_to(x.get() + begin, there_x, n - begin)),
                                detail::column_to(y.get(), there_y, n)},
                    nullptr);
      EXPECT_EQ(n_calls > 0, x_goes_through_pieces);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), x.get()));
      EXPECT_TRUE(std::equal(other.begin(), other.end(), y.get()));
    };
    expect_both(true, 0);
    pin(x.get(), n);
    expect_both(false, 0);
    expect_both(false, 5);
    unpin(x.get());
    pin(x.get(), page);
    pin(x.get() + n - page, page); // with a hole between them
    expect_both(true, 0);
    unpin(x.get());
    unpin(x.get() + n - page);
    pin(x.get(), n / 2);
    expect_both(true, 0);
    pin(x.get() + n / 2, n / 2); // side by side: CUDA copies from one of them at a time
    expect_both(true, 0);
    expect_both(true, n / 2 - page);
    expect_both(false, n / 2);
    unpin(x.get() + n / 2);
    unpin(x.get());
    expect_both(true, 0);
  }

  // What is put into the stream before comes first, and the copy is done when the call returns.
  TEST(staging, follows_the_work_of_the_stream)
  {
    using T = std::uint32_t;
    std::size_t const n = 5'000'000;
    threads on(4);
    auto const bus = staging::make(4);
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
      bus->upload(on, std::vector{staged<T>::out_of(x, there)}, nullptr);
      std::vector<T> back(n);
      bus->download(on, std::vector{staged<T>::into(there, back)}, nullptr);
      ASSERT_TRUE(back == x);
      clear_late();
      bus->download(on, std::vector{staged<T>::into(there, back)}, nullptr);
      ASSERT_TRUE(back == std::vector<T>(n));
    }
  }

  TEST(staging, an_exception_of_the_host_comes_back_and_the_next_copy_is_right)
  {
    using T = std::uint32_t;
    std::size_t const n = 3'000'000;
    threads on(4);
    auto const bus = staging::make(4);
    auto const x = staged<T>::values(n, 7);
    device_array<T> there(n);
    auto failing = staged<T>::out_of(x, there);
    std::atomic<int> n_calls{0};
    failing.host = [&](void*, std::size_t, std::size_t)
    {
      if (++n_calls == 9) throw std::runtime_error("the ninth");
    };
    EXPECT_THROW(bus->upload(on, std::vector{failing}, nullptr), std::runtime_error);
    n_calls = 0;
    EXPECT_THROW(bus->download(on, std::vector{failing}, nullptr), std::runtime_error);
    bus->upload(on, std::vector{staged<T>::out_of(x, there)}, nullptr);
    std::vector<T> back(n);
    there.copy_to(back);
    EXPECT_TRUE(back == x);
  }
}
