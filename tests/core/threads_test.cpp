#include <nearfield/core/executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

using nearfield::threads;

TEST(threads, call_each_part_once)
{
  for (int const most : {1, 3, 1000})
    for (int const n : {0, 1, 2, 1000})
    {
      threads on(most);
      EXPECT_GE(on.workers(), 1);
      EXPECT_LE(on.workers(), most);
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
      on.run(n, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
      for (auto const& each : calls) EXPECT_EQ(each, 1);
    }
}

TEST(threads, are_no_more_than_asked_for)
{
  auto const count = []
  {
    std::filesystem::directory_iterator const all("/proc/self/task");
    return std::distance(begin(all), end(all));
  };
  auto const before = count();
  threads on(1);
  std::ptrdiff_t most = before;
  std::mutex mutex;
  on.run(100,
         [&](int)
         {
           std::lock_guard const lock(mutex);
           most = std::max(most, count());
         });
  EXPECT_EQ(most, before);
}

TEST(threads, an_exception_comes_back_and_ends_the_loop)
{
  for (int const most : {1, 8})
  {
    threads on(most);
    std::atomic<int> n_calls{0};
    EXPECT_THROW(on.run(1000000,
                        [&](int)
                        {
                          ++n_calls;
                          throw std::runtime_error("no");
                        }),
                 std::runtime_error);
    EXPECT_LE(n_calls, on.workers());
    on.run(3, [&](int) { ++n_calls; }); // it can be used again
  }
  // and the other threads take no more parts
  constexpr int n = 1000000;
  std::atomic<int> n_calls{0};
  EXPECT_THROW(threads(2).run(n,
                              [&](int i)
                              {
                                ++n_calls;
                                if (i == 0) throw std::runtime_error("no");
                                std::this_thread::yield();
                              }),
               std::runtime_error);
  EXPECT_LT(n_calls, n);
}
