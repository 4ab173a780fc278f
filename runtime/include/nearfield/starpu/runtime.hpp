#pragma once

#include <nearfield/core/api.hpp>

#include <optional>
#include <string>
#include <vector>

/// \namespace nearfield::starpu
/// Near fields, P2P and radius searches as StarPU tasks.

namespace nearfield::starpu
{
  /// How StarPU is started. What is not set here comes from StarPU's environment variables
  /// (STARPU_NCPU, STARPU_NCUDA, STARPU_SCHED ...), and else from StarPU's defaults, but for two of them
  /// where there are GPUs: STARPU_NWORKER_PER_CUDA is 2, so that tasks overlap on a GPU (a launch alone
  /// drains before the next one fills it), and one core is left for each GPU and one for the main thread
  /// (with a worker on every core downloads wait) unless STARPU_NCPU or STARPU_RESERVE_NCPU is set.
  struct runtime_options
  {
    /// CPU workers; 0: STARPU_NCPU, or one per core as far as this StarPU was built for as many, less those
    /// that GPUs need
    int workers = 0;
    /// "lws", "dmdas" ...; empty: STARPU_SCHED, or StarPU's default
    std::string scheduler = {};
    /// GPUs; none: STARPU_NCUDA, or all that there are
    std::optional<int> gpus = std::nullopt;
  };

  /// StarPU, running as long as one object of this class lives.
  ///
  /// The first one starts StarPU with its options, the last one stops it; those in between, copies
  /// included, only count, and may state the same options or none. Where the program has started StarPU
  /// itself, it is neither started nor stopped here. Objects that use StarPU (near_field ...) keep a copy.
  /// Where it has not measured the buses of the machine, StarPU resets the GPUs when it starts:
  /// what was in their memory before the first runtime is gone then. StarPU prints nothing unless
  /// STARPU_SILENT=0 is set, and where neither STARPU_HOME is set nor $HOME can be written to, its
  /// measurements go to a folder of the user's below that for temporary files.
  ///
  /// StarPU aborts the process where it gets no memory. Handles and tasks of this library ask for
  /// theirs first and throw std::bad_alloc; what StarPU's workers allocate beside them, and data of
  /// tasks beside GPUs, cannot be asked for, so within some hundred kilobytes of a limit (ulimit
  /// -v) it may still abort.
  class NEARFIELD_API runtime
  {
  public:
    /// Throws error for an unknown scheduler, for workers < 0 or more than this StarPU was built
    /// for, for more GPUs than there are, when StarPU finds no worker, and when it runs already
    /// with other options. Where this object is to start StarPU, also for what StarPU would abort
    /// at: environment variables of StarPU that it cannot read, a folder for its measurements that
    /// it cannot write to, and threads that the system refuses.
    explicit runtime(runtime_options const& options = {});
    /// Another reference to the same StarPU.
    runtime(runtime const&);
    runtime& operator=(runtime const&) = default;
    ~runtime();

    /// CPU workers and those of GPUs.
    [[nodiscard]] int n_workers() const;
    /// GPUs that have workers
    [[nodiscard]] int n_gpus() const;
    /// The names of the workers, by StarPU's worker number: "CPU 0" ...
    [[nodiscard]] std::vector<std::string> worker_names() const;
    /// The scheduler that was asked for, "dmdas" ...; empty: StarPU's default, or the program has
    /// started StarPU itself
    [[nodiscard]] std::string scheduler() const;

    /// Waits for every task of the process. Rethrows the first exception of those codelets of this
    /// library that were inserted without an argument of their own. Throws error where a worker
    /// calls it, in a codelet or a callback, as every function of this library does that waits for
    /// tasks. Destructors cannot throw: StarPU aborts where a worker destroys a handle, a near_field,
    /// pair_slabs or the last runtime.
    void wait();
  };

  /// The version of the StarPU library in use: "1.3.10".
  NEARFIELD_API std::string version();

  /// Whether that library was built with CUDA: without, its tasks run on CPUs only.
  NEARFIELD_API bool has_cuda() noexcept;
}
