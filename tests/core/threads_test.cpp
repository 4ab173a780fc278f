#include <nearfield/core/executor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
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
}
