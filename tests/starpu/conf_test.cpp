#include "runtime/src/conf.hpp"

#include "environment.hpp"

#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include <sched.h>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  /// What leave_a_core makes of the configuration that the environment gives: ncpus, reserve_ncpus.
  std::pair<int, int> workers_beside(int n_gpus, int n_cpus)
  {
    starpu_conf conf;
    starpu::check(starpu_conf_init(&conf), "starpu_conf_init");
    starpu::detail::leave_a_core(conf, n_gpus, n_cpus);
    return {conf.ncpus, conf.reserve_ncpus};
  }

  TEST(starpu_conf, beside_gpus_the_main_thread_has_a_core)
  {
    environment variables;
    for (char const* const name : {"STARPU_NCPU", "STARPU_NCPUS", "STARPU_RESERVE_NCPU"})
      variables.set(name, nullptr);
    EXPECT_EQ(workers_beside(0, 16), std::pair(-1, -1)) << "as StarPU has it";
    EXPECT_EQ(workers_beside(1, 16), std::pair(-1, 1));
    EXPECT_EQ(workers_beside(1, 36), std::pair(-1, 1));
    EXPECT_EQ(workers_beside(1, 6), std::pair(-1, 1)) << "of two threads each: three cores";
    // many idle workers would cost the GPUs time
    int const most = std::min(16, STARPU_MAXCPUS);
    EXPECT_EQ(workers_beside(1, 38), std::pair(most, -1));
    EXPECT_EQ(workers_beside(4, 64), std::pair(most, -1));
    EXPECT_EQ(workers_beside(8, 128), std::pair(most, -1));
    // few cores, or half as many with two threads each: there must be a CPU worker
    EXPECT_EQ(workers_beside(1, 1), std::pair(1, -1));
    EXPECT_EQ(workers_beside(1, 2), std::pair(1, -1));
    EXPECT_EQ(workers_beside(1, 4), std::pair(2, -1));
    EXPECT_EQ(workers_beside(8, 8), std::pair(1, -1));
  }

  TEST(starpu_conf, what_the_environment_says_of_workers_stays)
  {
    for (char const* const name : {"STARPU_NCPU", "STARPU_NCPUS"})
    {
      environment variables;
      for (char const* const other : {"STARPU_NCPU", "STARPU_NCPUS", "STARPU_RESERVE_NCPU"})
        variables.set(other, other == name ? "3" : nullptr);
      EXPECT_EQ(workers_beside(1, 16), std::pair(3, -1)) << name;
    }
    environment variables;
    for (char const* const name : {"STARPU_NCPU", "STARPU_NCPUS"}) variables.set(name, nullptr);
    variables.set("STARPU_RESERVE_NCPU", "4");
    EXPECT_EQ(workers_beside(1, 16), std::pair(-1, 4));
    EXPECT_EQ(workers_beside(1, 2), std::pair(-1, 4));
  }

  TEST(starpu_conf, counts_the_cpus_that_the_process_may_use)
  {
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    EXPECT_EQ(starpu::detail::allowed_cpus(), CPU_COUNT(&before));
    EXPECT_LE(starpu::detail::allowed_cores(), CPU_COUNT(&before));
    starpu::runtime const starpu({.workers = 1});
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(starpu::detail::cpus_at_start(), CPU_COUNT(&before)) << "threads bound since";
    EXPECT_EQ(starpu::detail::allowed_cpus(), 1);
    EXPECT_EQ(starpu::detail::allowed_cores(), 1);
    ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  }
}
