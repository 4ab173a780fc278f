#pragma once

#include "compute.hpp"
#include "mpi/mpi_ranks.hpp"
#include "task_step.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace nearfield::app
{
  /// StarPU-MPI, running as long as this lives.
  std::shared_ptr<void> start_messages();

  /// StarPU, StarPU-MPI and the workers that build trees. Collective; throws agreed_error.
  class runtime_over
  {
  public:
    runtime_over(mpi_ranks const& all, execution_options const& how)
    {
      all.attempt([&] { running_.emplace(how); });
      all.attempt([&] { messages_ = start_messages(); });
      workers_ = std::make_shared<starpu::cpu_workers>(running_->runtime());
      if (workers_->workers() > 1) threads_of_tree_ = workers_;
    }
    [[nodiscard]] session const& running() const { return *running_; }
    [[nodiscard]] std::shared_ptr<starpu::cpu_workers> const& workers() const { return workers_; }
    /// Where trees are made: by the workers, or by the calling thread if there is one worker.
    [[nodiscard]] nearfield::detail::on_threads<simd_backend> place_of_tree() const
    {
      return simd.with(*threads_of_tree_);
    }

  private:
    std::optional<session> running_;
    std::shared_ptr<void> messages_;
    std::shared_ptr<starpu::cpu_workers> workers_;
    std::shared_ptr<executor> threads_of_tree_ = std::make_shared<threads>(1);
  };

  /// What a report says of the machine, and of tasks: of all ranks. Names of workers begin with that of their rank.
  void describe_workers(mpi_ranks const& all, session const& running,
                        std::vector<starpu::monitor::worker_tasks> const& mine,
                        step_report& report);
}
