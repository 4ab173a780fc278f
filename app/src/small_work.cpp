#include "small_work.hpp"

#include "devices.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace nearfield::app
{
  namespace
  {
    // StarPU starts in 0.08 s on 2 cores, and in 0.13 to 0.27 s on machines with more; a step of tasks costs 1 ms.
    constexpr double starpu_start = 0.15, tasks_of_a_step = 1e-3;
    // With more points, pairs are never few enough, and StarPU's workers build the tree.
    constexpr std::size_t most_points = 4'000'000;

    bool environment_asks_for_starpu()
    {
      auto const names = {"STARPU_NCPU",  "STARPU_NCPUS",          "STARPU_WORKERS_CPUID",
                          "STARPU_SCHED", "STARPU_WORKERS_COREID", "STARPU_FXT_TRACE"};
      return std::ranges::any_of(names, [](char const* name) { return std::getenv(name); });
    }
  }

  bool may_be_small(execution_options const& step, std::size_t n_points)
  {
    if (step.is_small || step.ask_for_tasks() || environment_asks_for_starpu() || !has_tasks() ||
        n_points > most_points)
      return false;
    return is_of_cpu(step.backend) ||
           (step.backend == backend::automatic && !no_gpu_tasks().empty());
  }

  execution_options where_it_is_faster(execution_options step, double seconds,
                                       std::uint64_t n_steps)
  {
    double const saved =
        seconds * static_cast<double>(n_steps) * (1 - 1. / std::max(1, cpu_count()));
    step.is_small = seconds < tasks_of_a_step || saved < starpu_start;
    if (*step.is_small) step.workers = 0;
    return step;
  }
}
