#pragma once

#include <nearfield/starpu/runtime.hpp>

#include <functional>

namespace nearfield::starpu::detail
{
  /// What cpu_workers do, for tasks, which need no reference to StarPU: it runs as long as they do.
  void run_on_cpu_workers(int n, std::function<void(int)> const& f);
  /// At least 1.
  int n_cpu_workers();

  /// The same as an executor.
  class task_workers final : public executor
  {
  public:
    [[nodiscard]] int workers() const override { return n_cpu_workers(); }
    void run(int n, std::function<void(int)> const& f) override { run_on_cpu_workers(n, f); }
  };
}
