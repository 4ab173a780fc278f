#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

struct starpu_sched_policy;

/// \namespace nearfield::starpu
/// Near fields, P2P and radius searches as StarPU tasks.

namespace nearfield::starpu
{
  /// StarPU, running as long as an object of this class exists.
  ///
  /// The first object starts StarPU with its options and the last one stops it. Others, copies included, only
  /// count references; they may repeat the same options or give none. If the program has started StarPU
  /// itself, objects neither start nor stop it. Objects that use StarPU (near_field ...) keep a copy. If StarPU
  /// has not yet measured the machine's buses, it resets the GPUs when it starts: the contents of their memory
  /// are lost. StarPU prints nothing unless STARPU_SILENT=0 is set. Its measurements go to a per-user
  /// directory under the directory for temporary files if no variable names another (STARPU_PERF_MODEL_DIR,
  /// XDG_CACHE_HOME, STARPU_HOME) and $HOME is not writable.
  ///
  /// StarPU aborts the process if it runs out of memory. Handles and tasks of this library test for memory first
  /// and throw nearfield::error. StarPU's workers allocate too. So where address space is limited (ulimit -v), the
  /// start of StarPU throws nearfield::error unless 48 MiB are left, and near_field, radius_search and pair_slabs
  /// unless 4 MiB and 8 KiB a task are. Nothing tests for tasks of your own graph or, with GPUs, for the data of
  /// tasks: within some hundred kilobytes of a limit StarPU may still abort.
  class NEARFIELD_API runtime
  {
  public:
    /// How StarPU is started. Options left at their defaults come from StarPU's environment variables
    /// (STARPU_NCPU, STARPU_NCUDA, STARPU_SCHED ...) or from StarPU's own defaults. With GPUs, two defaults
    /// differ from StarPU's: STARPU_NWORKER_PER_CUDA is 2, so that tasks overlap on a GPU (a single launch
    /// drains before the next one fills it), and one core is left free for each GPU and one for the main
    /// thread (with a worker on every core, downloads wait), and no more than 16 CPU workers start, unless STARPU_NCPU or
    /// STARPU_RESERVE_NCPU is set.
    /// Workers that find no task leave their core to other threads and pause (yielding_policy()).
    struct options_type
    {
      /// CPU workers; 0: STARPU_NCPU, or one per core up to the maximum that StarPU was built for
      /// (worker_limit()), less the cores left free with GPUs; then 16 at most
      int workers = 0;
      /// "lws", "dmdas" ...; empty: STARPU_SCHED, or StarPU's default
      std::string scheduler = {};
      /// GPUs; nullopt: STARPU_NCUDA, or all GPUs
      std::optional<int> gpus = std::nullopt;
    };

    /// Throws nearfield::error for an unknown scheduler, for workers < 0 or more than StarPU was built for,
    /// for more GPUs than the machine has, if StarPU finds no worker, if it already runs with other options,
    /// and in a child process forked while StarPU was running. An object that starts StarPU also throws where
    /// StarPU would abort: for environment variables that StarPU cannot parse, a directory of measurements or for
    /// STARPU_DISK_SWAP that it cannot write to, and threads or address space that the system refuses.
    explicit runtime(options_type const& options);
    /// With the options left at their defaults.
    runtime() : runtime(options_type()) {}
    /// Another reference to the same StarPU.
    runtime(runtime const&);
    runtime& operator=(runtime const&) = default;
    /// The last one stops StarPU if the first started it. StarPU aborts the process if a worker calls this, in
    /// a codelet or a callback.
    ~runtime();

    /// The number of workers, CPU and GPU.
    [[nodiscard]] int n_workers() const;
    /// The number of GPUs that have workers.
    [[nodiscard]] int n_gpus() const;
    /// The CUDA device of the first of them; nothing if there is none, or if nearfield was built without CUDA.
    [[nodiscard]] std::optional<int> first_gpu() const;
    /// The names of the workers, by StarPU's worker number: "CPU 0" ...
    [[nodiscard]] std::vector<std::string> worker_names() const;
    /// The scheduler asked for, "dmdas" ...; empty for StarPU's default, and if the program has started
    /// StarPU itself.
    [[nodiscard]] std::string scheduler() const;

    /// Waits for all tasks of the process, then rethrows the first exception of this library's tasks that were
    /// inserted without an argument. Throws nearfield::error if called by a worker, in a codelet or a callback,
    /// as does every function of this library that waits for tasks. Destructors cannot throw: StarPU aborts
    /// if a worker destroys a handle, a near_field, pair_slabs or the last runtime.
    void wait();
  };

  /// StarPU's CPU workers as an executor: tasks take the parts of a loop, and so does a worker that calls run(), in a
  /// codelet of yours or in a part of another loop. A worker never waits for a task that has not started, so other
  /// tasks cannot block it. With STARPU_LIMIT_MAX_SUBMITTED_TASKS, which can block a thread that submits, a calling
  /// worker does all parts itself; after starpu_set_limit_max_submitted_tasks() no worker may call run().
  ///
  ///     nearfield::starpu::cpu_workers on(starpu);
  ///     auto const tree = nearfield::build_tree(nearfield::simd.with(on), nearfield::soa{x, y, z});
  class NEARFIELD_API cpu_workers final : public executor
  {
  public:
    /// Keeps StarPU running.
    explicit cpu_workers(runtime const& starpu) : starpu_(starpu) {}

    /// The number of CPU workers, at least 1.
    [[nodiscard]] int workers() const override;

    /// Called outside a worker, throws nearfield::error if there is no CPU worker, or no memory for a task.
    void run(int n, std::function<void(int)> const& f) override;

  private:
    runtime starpu_;
  };

  /// A copy of StarPU's scheduling policy of this name, in which a CPU worker that finds no task yields its core and
  /// pauses before it looks again: the longer it has been idle, and the more workers are idle, the longer, up to one
  /// microsecond for each of them. StarPU's own workers look without a pause. That keeps the core from threads that share
  /// it (messages of other ranks, the main thread), and many idle workers block the queues of GPU workers. A runtime that
  /// starts StarPU takes this policy; a program that starts StarPU itself gives it to starpu_init(), where STARPU_SCHED
  /// is not set, which StarPU prefers:
  ///
  ///     conf.sched_policy = nearfield::starpu::yielding_policy();
  ///
  /// Null if StarPU has no policy of this name. All calls return the same object: none may name another policy while
  /// StarPU runs with it.
  NEARFIELD_API starpu_sched_policy* yielding_policy(std::string const& name = "lws");

  /// The version of the StarPU library in use, such as "1.3.10".
  NEARFIELD_API std::string version();

  /// Why StarPU leaves cores of this machine idle, in one line with the remedy: it was built for fewer CPU
  /// workers than there are cores. Empty if it was not.
  NEARFIELD_API std::string worker_limit();

  /// Whether StarPU was built with CUDA; without it, tasks run on CPUs only.
  NEARFIELD_API bool has_cuda() noexcept;

  /// Throws nearfield::error if `code`, returned by a StarPU function, is not 0. StarPU returns negative
  /// values of errno. `what` names the function and what it was called for.
  NEARFIELD_API void check(int code, std::string const& what);
}
