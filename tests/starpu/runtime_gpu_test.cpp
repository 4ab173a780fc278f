// StarPU started and stopped on a machine with GPUs, several times in one process.

#include "environment.hpp"

#include <nearfield/kernels/one_over_r.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <sched.h>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::backend_choice;
  using starpu::runtime;
  using testing::HasSubstr;
  using p2p = starpu::p2p<one_over_r<3>, double>;

  void make_p2p_for_gpus()
  {
    p2p const made(one_over_r<3>{}, backend_choice::cuda);
  }

  TEST(starpu_runtime_with_gpus, codelets_for_gpus_are_refused_once_starpu_runs_without)
  {
    {
      runtime const one({.gpus = 1});
      EXPECT_EQ(one.n_gpus(), 1);
      EXPECT_EQ(message_of(make_p2p_for_gpus), "nothing was thrown");
    }
    runtime const none({.gpus = 0});
    EXPECT_THAT(message_of(make_p2p_for_gpus), HasSubstr("no GPU worker"));
  }

  TEST(starpu_runtime_with_gpus, more_than_there_are_is_refused_and_leaves_nothing_running)
  {
    EXPECT_THAT(message_of([] { runtime const r({.gpus = 1000}); }), HasSubstr("gpus: found 1000"));
    EXPECT_FALSE(starpu_is_initialized());
  }

  TEST(starpu_runtime_with_gpus, cpu_workers_are_those_that_the_environment_asks_for)
  {
    environment variables;
    variables.set("STARPU_NCPU", nullptr);
    variables.set("STARPU_NCPUS", "1");
    runtime const r({.gpus = 1});
    EXPECT_EQ(starpu_cpu_worker_get_count(), 1u);
  }

  TEST(starpu_runtime_with_gpus, cpu_workers_are_no_more_than_the_process_may_use)
  {
    environment variables;
    variables.set("STARPU_NCPU", nullptr);
    variables.set("STARPU_NCPUS", nullptr);
    cpu_set_t before, two;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
      if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &two);
    ASSERT_EQ(sched_setaffinity(0, sizeof(two), &two), 0);
    {
      runtime const r({.gpus = 1});
      EXPECT_EQ(starpu_cpu_worker_get_count(), 1u);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  }
}
