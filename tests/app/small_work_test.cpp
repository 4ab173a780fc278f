// Where a run of few pairs computes.
#include "small_work.hpp"

#include "devices.hpp"
#include "machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace nearfield;
using namespace nearfield::app;

// as in a program with StarPU and without GPUs
bool nearfield::app::has_tasks()
{
  return true;
}
std::string nearfield::app::no_gpu_tasks()
{
  return "no GPU";
}

TEST(small_work, may_be_what_asks_for_nothing)
{
  for (char const* name : {"STARPU_NCPU", "STARPU_SCHED"}) ::unsetenv(name);
  EXPECT_TRUE(may_be_small({}, 1000));
  EXPECT_TRUE(may_be_small({.backend = backend::simd}, 1000));
  EXPECT_FALSE(may_be_small({.backend = backend::cuda}, 1000));
  EXPECT_FALSE(may_be_small({}, 100'000'000));
  EXPECT_FALSE(may_be_small({.workers = 2}, 1000));
  EXPECT_FALSE(may_be_small({.gpus = 0}, 1000));
  EXPECT_FALSE(may_be_small({.leaves_per_group = 2}, 1000));
  EXPECT_FALSE(may_be_small({.scheduler = "eager"}, 1000));
  EXPECT_FALSE(may_be_small({.is_small = false}, 1000)); // it has been looked at
  ::setenv("STARPU_NCPU", "2", 1);
  EXPECT_FALSE(may_be_small({}, 1000));
  ::unsetenv("STARPU_NCPU");
}

TEST(small_work, is_what_takes_less_than_starpu_to_start)
{
  auto const small = where_it_is_faster({}, 0.1, 1);
  EXPECT_EQ(small.is_small, true);
  EXPECT_EQ(small.workers, 0);
  // many steps, each of which is shorter than its tasks
  EXPECT_EQ(where_it_is_faster({}, 0.99e-3, 1'000'000'000).workers, 0);
  if (cpu_count() == 1) GTEST_SKIP() << "one processor: StarPU's only worker saves nothing";
  for (auto const& large : {where_it_is_faster({}, 0.4, 1), where_it_is_faster({}, 0.004, 100),
                            where_it_is_faster({}, 1e-3, 1'000'000'000)})
  {
    EXPECT_EQ(large.is_small, false);
    EXPECT_EQ(large.workers, std::nullopt);
  }
}
