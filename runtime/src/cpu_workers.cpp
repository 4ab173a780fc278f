#include <nearfield/starpu/runtime.hpp>

#include "search_tasks.hpp"

#include <starpu.h>

#include <algorithm>

namespace nearfield::starpu
{
  int cpu_workers::workers() const
  {
    return std::max(1, static_cast<int>(starpu_cpu_worker_get_count()));
  }

  void cpu_workers::run(int n, std::function<void(int)> const& f)
  {
    detail::run_in_tasks(starpu_, detail::search_work::loop, isa::best,
                         static_cast<std::size_t>(std::max(0, n)), 0,
                         [&](std::size_t part) { f(static_cast<int>(part)); });
  }
}
