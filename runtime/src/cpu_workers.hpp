#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <functional>

namespace nearfield::starpu::detail
{
  /// What cpu_workers do, for those that need no reference to StarPU, since it runs meanwhile. A caller that takes parts
  /// itself, as a worker always does, never waits for a task to start.
  NEARFIELD_API void run_on_cpu_workers(int n, std::function<void(int)> const& f,
                                        bool caller_takes = false);
  /// At least 1.
  NEARFIELD_API int n_cpu_workers();

  /// The same as an executor, for tasks and for a thread that may find all workers busy: the caller takes parts too.
  class helping_workers final : public executor
  {
  public:
    [[nodiscard]] int workers() const override { return n_cpu_workers(); }
    void run(int n, std::function<void(int)> const& f) override { run_on_cpu_workers(n, f, true); }
  };
}
