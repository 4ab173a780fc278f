#include "busy_workers.hpp"
#include "environment.hpp"
#include "step_problem.hpp"

#include <nearfield/starpu/tasks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string_view>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using testing::HasSubstr;

  TEST(starpu_task_recording, says_when_and_where_tasks_ran)
  {
    problem p(3000);
    auto step = p.step({.form = pair_form::one_sided, .backend = simd});
    {
      starpu::task_recording const recording;
      EXPECT_THAT(message_of([] { starpu::task_recording const second; }),
                  HasSubstr("one already"));
      auto const begin = std::chrono::steady_clock::now();
      step.submit();
      step.wait();
      std::map<std::string_view, std::size_t> ran;
      double last = 0;
      for (auto const& task : recording.tasks())
      {
        ++ran[task.name];
        EXPECT_THAT(starpu::worker_name(task.worker), testing::StartsWith("CPU"));
        EXPECT_GE(task.begin, last) << "in order";
        EXPECT_GE(task.end, task.begin);
        last = task.begin;
        EXPECT_LE(task.end,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count())
            << "since the first task began";
      }
      EXPECT_EQ(ran["p2p_gather"], step.n_tasks());
      EXPECT_EQ(ran["deliver"], step.n_tasks());
      EXPECT_GE(ran["collect"], 2u) << "positions and charges";
    }
    step.submit();
    step.wait();
    starpu::task_recording const later;
    EXPECT_TRUE(later.tasks().empty());
  }

  TEST(starpu_task_recording, has_no_task_of_an_earlier_one)
  {
    problem p(900);
    auto step = p.step({.backend = simd});
    busy_workers workers;
    {
      starpu::task_recording const earlier;
      step.submit();
    }
    starpu::task_recording const recording;
    workers.let_go();
    step.wait();
    EXPECT_THAT(recording.tasks(), testing::IsEmpty());
  }

  TEST(starpu_task_recording, leaves_the_profiling_of_the_program_on)
  {
    static_cast<void>(one_runtime());
    for (int const status : {STARPU_PROFILING_ENABLE, STARPU_PROFILING_DISABLE})
    {
      starpu_profiling_status_set(status);
      {
        starpu::task_recording const recording;
        EXPECT_EQ(starpu_profiling_status_get(), STARPU_PROFILING_ENABLE);
      }
      EXPECT_EQ(starpu_profiling_status_get(), status);
    }
  }
}
