#include <nearfield/core/where.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define NEARFIELD_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NEARFIELD_TSAN
#endif
#endif

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

namespace
{
  std::ptrdiff_t n_threads()
  {
    std::filesystem::directory_iterator const all("/proc/self/task");
    return std::distance(begin(all), end(all));
  }
}

TEST(threads, are_no_more_than_asked_for)
{
  auto const before = n_threads();
  threads on(1);
  std::ptrdiff_t most = before;
  std::mutex mutex;
  on.run(100,
         [&](int)
         {
           std::lock_guard const lock(mutex);
           most = std::max(most, n_threads());
         });
  EXPECT_EQ(most, before);
}

TEST(threads, are_kept_between_loops)
{
  auto const before = n_threads();
  {
    threads on;
    auto const others = on.workers() - 1;
    EXPECT_EQ(n_threads(), before) << "without a loop";
    std::atomic<int> n_calls{0};
    for (int loop = 0; loop < 1000; ++loop) on.run(3, [&](int) { ++n_calls; });
    EXPECT_EQ(n_calls, 3000);
    EXPECT_EQ(n_threads(), before + std::min(others, 2));
  }
  EXPECT_EQ(n_threads(), before);
}

TEST(threads, loops_of_several_callers_are_each_complete)
{
  threads on;
  std::atomic<int> n_calls{0};
  auto const call = [&]
  {
    for (int loop = 0; loop < 1000; ++loop)
    {
      std::atomic<int> n_here{0};
      on.run(5,
             [&](int)
             {
               ++n_calls;
               ++n_here;
             });
      EXPECT_EQ(n_here, 5);
    }
  };
  {
    std::jthread const first(call), second(call);
  }
  EXPECT_EQ(n_calls, 10000);
}

#if !defined(NEARFIELD_TSAN) // which refuses threads in a child of several
TEST(threads, a_child_of_fork_starts_its_own)
{
  threads on;
  std::atomic<int> n_calls{0};
  auto const loop = [&]
  {
    on.run(100, [&](int) { ++n_calls; });
    return n_calls.exchange(0);
  };
  EXPECT_EQ(loop(), 100);
  pid_t const child = fork();
  if (child == 0)
  {
    bool const is_whole = loop() == 100 && loop() == 100;
    bool const has_own = n_threads() == std::min(100, on.workers());
    _exit(is_whole && has_own ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(loop(), 100);
}
#endif

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
  threads on(2);
  EXPECT_THROW(on.run(n,
                      [&](int i)
                      {
                        ++n_calls;
                        while (i == 0 && n_calls < on.workers()) std::this_thread::yield();
                        if (i == 0) throw std::runtime_error("no");
                        std::this_thread::yield();
                      }),
               std::runtime_error);
  EXPECT_LT(n_calls, n);
}
