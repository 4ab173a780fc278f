#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/executor.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield::starpu
{
  /// StarPU's CPU workers as an executor: each part of a loop is a task.
  ///
  ///     nearfield::starpu::cpu_workers on(starpu);
  ///     auto const tree = nearfield::build_tree(on, nearfield::soa{x, y, z});
  class NEARFIELD_API cpu_workers final : public executor
  {
  public:
    /// Keeps StarPU running.
    explicit cpu_workers(runtime const& starpu) : starpu_(starpu) {}

    /// The number of CPU workers, at least 1.
    [[nodiscard]] int workers() const override;

    /// Waits for its own tasks only. Throws nearfield::error if there is no CPU worker, if a worker calls it, and if
    /// memory for the tasks is missing.
    void run(int n, std::function<void(int)> const& f) override;

  private:
    runtime starpu_;
  };
}
