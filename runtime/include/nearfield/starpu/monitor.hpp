#pragma once

#include <nearfield/core/api.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::starpu
{
  /// The number of P2P tasks that a worker has run with one implementation.
  struct worker_tasks
  {
    std::string worker; ///< "CPU 0" ...
    /// "scalar", "cuda" or an instruction set; for an interaction without run-time dispatch
    /// (dispatched_interaction), the instruction set of the file that compiled it
    std::string implementation;
    std::uint64_t tasks = 0; ///< number of tasks
  };

  /// The name of a worker, "CPU 0" ..., without the core that StarPU has bound it to.
  NEARFIELD_API std::string worker_name(int worker);

  /// Records the first exception of an owner's tasks, and how often each worker ran each implementation.
  /// Any thread may call its functions.
  class NEARFIELD_API monitor
  {
  public:
    static constexpr int n_implementations = 3; ///< upper limit per codelet

    monitor();
    /// The monitor of tasks inserted without an argument.
    static monitor& of_process();

    /// Records the current exception. Called by a codelet, from its catch block.
    void caught() noexcept;
    /// Counts a task. Called by a codelet, on the worker that runs it.
    void count(int implementation) noexcept;

    /// Called before submitting a task that the owner must outlive.
    void submitted() noexcept;
    /// Called when that task has ended, or could not be submitted.
    void ended() noexcept;
    /// Waits until all of those have ended.
    void wait() noexcept;

    /// Throws the first exception caught since the last call, if any.
    void rethrow();

    /// One entry per worker and implementation that has run a task; names[i] is the name of implementation i.
    [[nodiscard]] std::vector<worker_tasks>
    tasks(std::string_view const (&names)[n_implementations]) const;

  private:
    std::mutex mutex_;
    std::condition_variable all_ended_;
    std::uint64_t running_ = 0;
    std::exception_ptr first_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  };
}
