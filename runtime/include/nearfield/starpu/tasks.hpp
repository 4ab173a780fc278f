#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <starpu.h>

#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Options of tasks (where to run, how StarPU schedules them), and what tasks report.

namespace nearfield::starpu
{
  /// The implementations among which StarPU's scheduler chooses: `simd`, or `{simd, cuda}`.
  class NEARFIELD_API backend_set
  {
  public:
    /// A single implementation; automatic means simd and cuda.
    template <std::convertible_to<backend> Where>
    backend_set(Where one) : backend_set({static_cast<backend>(one)}) // NOLINT
    {}
    /// Several implementations. Throws nearfield::error for an empty list.
    backend_set(std::initializer_list<backend> several);

    /// plain C++ on CPU workers
    [[nodiscard]] bool has_scalar() const { return (bits_ & 1u) != 0; }
    /// SIMD on CPU workers
    [[nodiscard]] bool has_simd() const { return (bits_ & 2u) != 0; }
    /// CUDA on GPU workers
    [[nodiscard]] bool has_cuda() const { return (bits_ & 4u) != 0; }
    /// Whether cuda was named explicitly, not only implied by automatic. It must then be available.
    [[nodiscard]] bool names_cuda() const { return names_cuda_; }
    /// 1 to 7, unique for each set of implementations.
    [[nodiscard]] unsigned index() const { return bits_; }

  private:
    unsigned bits_ = 0;
    bool names_cuda_ = false;
  };

  /// How StarPU schedules a task, besides by its data.
  struct task_options
  {
    /// higher runs first if the scheduler has priorities; clamped to the scheduler's range
    int priority = STARPU_DEFAULT_PRIO;
    /// tag by which other tasks refer to this one
    std::optional<starpu_tag_t> tag = std::nullopt;
    /// tags of tasks that must end before this one starts, besides those implied by its data; requires `tag`
    std::vector<starpu_tag_t> after = {};
    /// the same, as tasks that are not yet submitted, or that StarPU keeps (destroy = 0 and detach = 0)
    std::vector<starpu_task*> after_tasks = {};
    /// called with callback_argument on the worker when the task has ended; must neither throw nor wait
    void (*callback)(void*) = nullptr;
    void* callback_argument = nullptr; ///< argument of callback
    /// StarPU's number of the worker that must run the task; negative: any
    int worker = -1;
    /// name in traces, with the lifetime of a string literal; null: the codelet's name
    char const* name = nullptr;
  };

  /// The name of a worker, "CPU 0" ..., without the core that StarPU has bound it to.
  NEARFIELD_API std::string worker_name(int worker);

  /// Records the tasks of near_field steps that are submitted while it exists: who computed what. There is one at a
  /// time; StarPU's profiling is on, which costs a microsecond a task.
  class NEARFIELD_API task_recording
  {
  public:
    /// When and where a task has run.
    struct record
    {
      std::string_view name; ///< "p2p_gather", "deliver" ...
      int worker;            ///< StarPU's number
      double begin = 0;      ///< seconds since the first task of the recording began
      double end = 0;        ///< the same; on a GPU when its kernels have ended
    };

    /// Throws nearfield::error if StarPU is not running, or if there is a recording already.
    task_recording();
    task_recording(task_recording const&) = delete;
    task_recording& operator=(task_recording const&) = delete;
    ~task_recording();

    /// The tasks that have ended, in the order in which they began: those of a step when its wait() has returned.
    [[nodiscard]] std::vector<record> tasks() const;
  };

  /// Records the first exception of an owner's tasks, and how often each worker ran each implementation.
  /// Any thread may call its functions.
  class NEARFIELD_API monitor
  {
  public:
    /// The number of P2P tasks that a worker has run with one implementation.
    struct worker_tasks
    {
      std::string worker; ///< "CPU 0" ...
      /// "scalar", "cuda" or an instruction set; for an interaction without run-time dispatch
      /// (dispatched_interaction), the instruction set of the file that compiled it
      std::string implementation;
      std::uint64_t tasks = 0; ///< number of tasks
    };

    static constexpr int n_implementations = 3; ///< upper limit per codelet

    monitor();
    /// The monitor of tasks inserted without an argument.
    static monitor& of_process();

    /// Records the current exception. Called by a codelet, from its catch block.
    void caught() noexcept;
    /// Counts a task. Called by a codelet, on the worker that runs it.
    void count(int implementation) noexcept;
    /// Adds what a P2P task of a step took on a CPU worker. Called by a codelet.
    void took(double seconds) noexcept { seconds_.fetch_add(seconds, std::memory_order_relaxed); }
    /// What those tasks took together.
    [[nodiscard]] double seconds() const { return seconds_.load(std::memory_order_relaxed); }

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
    std::atomic<double> seconds_{0};
  };
}
