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
  /// How many P2P tasks a worker has run with one implementation.
  struct worker_tasks
  {
    std::string worker; ///< "CPU 0" ...
    /// an instruction set, for an interaction that is no dispatched_interaction that of the file that uses
    /// it; "scalar" or "cuda"
    std::string implementation;
    std::uint64_t tasks = 0; ///< how many
  };

  /// "CPU 0" ...: the name of a worker, without the place where StarPU has bound it.
  NEARFIELD_API std::string worker_name(int worker);

  /// What the tasks of one owner report while they run: the first exception, and which worker ran
  /// which implementation. Every function may be called by any thread.
  class NEARFIELD_API monitor
  {
  public:
    static constexpr int n_implementations = 3; ///< of a codelet at most

    monitor();
    /// That of codelets that are inserted without an argument.
    static monitor& of_process();

    /// Called by a codelet, from its catch block.
    void caught() noexcept;
    /// Called by a codelet, on the worker that runs it.
    void count(int implementation) noexcept;

    /// Called before a task is submitted that the owner must outlive.
    void submitted() noexcept;
    /// Called by that task at its end, or where it could not be submitted.
    void ended() noexcept;
    /// Returns when all of those have ended.
    void wait() noexcept;

    /// Throws the first exception that was caught since the last call.
    void rethrow();

    /// Those of the workers and implementations that ran a task; names are by implementation.
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
