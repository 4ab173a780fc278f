// StarPU started and stopped on a machine with GPUs, several times in one process.

#include "environment.hpp"
#include "points.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sched.h>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::runtime;
  using testing::HasSubstr;
  using p2p = starpu::p2p<one_over_r<3>, double>;

  void make_p2p_for_gpus()
  {
    p2p const made(one_over_r<3>{}, {.backend = cuda});
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

  // Where it has not measured the machine's buses, StarPU resets the devices when it starts, and with them ends
  // the memory that nearfield keeps there.
  TEST(starpu_runtime_with_gpus, lists_of_pairs_are_found_each_time)
  {
    environment variables;
    std::string home = (std::filesystem::temp_directory_path() / "nearfield-home-XXXXXX").string();
    ASSERT_NE(mkdtemp(home.data()), nullptr);
    variables.set("STARPU_HOME", home.c_str());
    auto const x = make_points<double, 3>(cloud::uniform, 20000);
    cell_list<double, 3> const cells(x.view(), 0.05);
    auto const expected = radius_search(simd, cells, to_coo{});
    for (int time = 0; time < 3; ++time)
    {
      {
        device_columns<double, 3> const there(x.view());
        cuda_cell_list<double, 3> directly(cuda, there.view(), 0.05);
        EXPECT_EQ(radius_search(cuda, directly, to_coo{}).to_host().size(), expected.size());
        EXPECT_GT(memory_of_pool().held, 0u);
      }
      runtime const r({.gpus = 1});
      std::vector<starpu::handle> columns;
      for (auto const& column : x.columns)
        columns.push_back(starpu::handle::of(column.data(), column.size()));
      starpu::pair_slabs<double, 3> list(r, {columns[0], columns[1], columns[2]}, 0.05,
                                         {.backend = cuda});
      coo<double, 3> found;
      list.to_host(found);
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_TRUE(std::equal(found.j.begin(), found.j.end(), expected.j.begin()));
    }
    std::filesystem::remove_all(home);
  }
}
