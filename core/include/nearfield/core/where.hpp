#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>

#include <atomic>
#include <concepts>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Where to run: `scalar`, `simd` or `cuda`, the first argument of every function that computes. The classes and
/// functions of nearfield::starpu take a starpu::runtime there, and `scalar`, `simd` or `cuda` as the option
/// `backend` of their tasks.

struct CUstream_st;

namespace nearfield
{
  /// The instruction sets that built-in kernels may be compiled for.
  enum class isa
  {
    best, ///< the widest available one, or the one named by NEARFIELD_ISA; see selected_isa()
    scalar,
    sse2,
    avx2,   ///< with FMA
    avx512, ///< F, CD, BW, DQ and VL
    neon64
  };

  /// The name in lower case: "scalar", "sse2" ...; "best" for isa::best.
  NEARFIELD_API std::string_view name_of(isa which);

  /// The instruction sets that are built in and that this machine supports, narrowest first; scalar is always
  /// one.
  NEARFIELD_API std::vector<isa> available_isas();

  /// The instruction set that `simd` stands for: the widest available one, unless the environment variable
  /// NEARFIELD_ISA names another. Throws nearfield::error if that one is unknown, not built in, or not
  /// supported by this machine.
  NEARFIELD_API isa selected_isa();

  namespace detail
  {
    /// Resolves isa::best; other values are returned as they are. Throws nearfield::error if the result is
    /// not available.
    NEARFIELD_API isa available(isa which);

    /// The processor's name; of an ARM, its numbers.
    NEARFIELD_API std::string cpu_name(std::string const& file = "/proc/cpuinfo");
  }

  /// Where to run, for options and other values of the run. `scalar`, `simd` and `cuda` convert to it.
  enum class backend
  {
    automatic, ///< SIMD on CPUs, CUDA on GPUs
    scalar,
    simd,
    cuda
  };

  class executor;

  namespace detail
  {
    /// A CPU back-end on the threads of an executor: `simd.with(threads)`. The executor must outlive the call.
    template <class Backend>
    struct on_threads
    {
      Backend where;     ///< scalar or simd
      executor* threads; ///< not null
    };
  }

  /// The scalar back-end: one pair at a time, one divide and one root per pair; the reference.
  struct scalar_backend
  {
    /// On the threads of an executor.
    [[nodiscard]] constexpr detail::on_threads<scalar_backend> with(executor& threads) const;
    /// backend::scalar
    constexpr operator backend() const { return backend::scalar; } // NOLINT
  };

  /// The SIMD back-end. Built-in interactions, and user-defined ones that nearfield_add_interaction()
  /// compiles, run on the instruction set given here. Other user-defined interactions run on the one that
  /// their file is compiled for, and need <nearfield/p2p/simd.hpp>.
  struct simd_backend
  {
    isa which = isa::best; ///< isa::best is selected_isa()

    /// On the threads of an executor.
    [[nodiscard]] constexpr detail::on_threads<simd_backend> with(executor& threads) const;
    /// backend::simd. Throws nearfield::error for an instruction set other than isa::best.
    constexpr operator backend() const // NOLINT(google-explicit-constructor)
    {
      if (which != isa::best)
        throw error("backend: tasks run the instruction set that NEARFIELD_ISA names; give simd");
      return backend::simd;
    }
  };

  constexpr detail::on_threads<scalar_backend> scalar_backend::with(executor& threads) const
  {
    return {*this, &threads};
  }
  constexpr detail::on_threads<simd_backend> simd_backend::with(executor& threads) const
  {
    return {*this, &threads};
  }

  /// `nf::p2p_inner(nf::scalar, ...)`
  inline constexpr scalar_backend scalar{};
  /// `nf::p2p_inner(nf::simd, ...)`: the widest available instruction set, see selected_isa()
  inline constexpr simd_backend simd{};

  namespace detail
  {
    /// Where to run on a CPU: scalar or simd, on the calling thread.
    template <class B>
    concept cpu_backend = std::same_as<B, scalar_backend> || std::same_as<B, simd_backend>;

    /// Where to run on CPUs: scalar or simd, on the calling thread or, as `simd.with(threads)`, on several.
    template <class P>
    concept cpu_place = cpu_backend<P> || std::same_as<P, on_threads<scalar_backend>> ||
                        std::same_as<P, on_threads<simd_backend>>;

    /// The threads of a place; null: the calling one.
    template <cpu_place Where>
    constexpr executor* threads_of(Where const& where)
    {
      if constexpr (cpu_backend<Where>)
        return nullptr;
      else
        return where.threads;
    }

    /// The back-end of a place.
    template <cpu_place Where>
    constexpr auto backend_of(Where const& where)
    {
      if constexpr (cpu_backend<Where>)
        return where;
      else
        return where.where;
    }
  }

  /// A cudaStream_t; null is the default stream.
  using cuda_stream = CUstream_st*;

  /// The CUDA back-end: a stream of the current device.
  struct cuda_backend
  {
    cuda_stream stream = nullptr; ///< null: the default stream

    /// backend::cuda. Throws nearfield::error for a stream: tasks run on streams of StarPU.
    constexpr operator backend() const // NOLINT(google-explicit-constructor)
    {
      if (stream) throw error("backend: tasks run on streams of StarPU; give cuda");
      return backend::cuda;
    }
  };
  /// `nf::p2p_inner(nf::cuda, ...)`: the default stream of the current device
  inline constexpr cuda_backend cuda{};

  /// Threads that run the parts of a loop: derive from it to lend a function those of your program.
  ///
  ///     struct serial : nearfield::executor
  ///     {
  ///       int workers() const override { return 1; }
  ///       void run(int n, std::function<void(int)> const& f) override { for (int p = 0; p < n; ++p) f(p); }
  ///     };
  class NEARFIELD_API executor
  {
  public:
    virtual ~executor() = default;

    /// How many calls may run at once, at least 1. Functions cut loops by it, and give the same bits for any number.
    [[nodiscard]] virtual int workers() const = 0;

    /// Calls f(0) ... f(n - 1), each once, in any order, on any threads, several at once, and returns when all have
    /// ended; what they wrote is then visible to the caller. If calls throw, the others may be left out, and run()
    /// throws one of the exceptions when none is running any more. Calls do not call run().
    virtual void run(int n, std::function<void(int)> const& f) = 0;
  };

  /// Threads of this program, the calling one among them. The others start with the first loop, sleep between loops, and
  /// end with the object. It shares out one loop at a time: one that another thread begins meanwhile runs on that thread
  /// alone. In a program with StarPU, lend its workers instead (starpu::cpu_workers).
  ///
  ///     nearfield::threads threads;
  ///     auto const tree = nearfield::build_tree(nearfield::simd.with(threads), nearfield::soa{x, y, z});
  class NEARFIELD_API threads final : public executor
  {
  public:
    /// As many as there are processors for this process, up to `most`.
    explicit threads(int most = std::numeric_limits<int>::max());

    [[nodiscard]] int workers() const override { return n_; }
    /// With fewer threads if the system refuses some.
    void run(int n, std::function<void(int)> const& f) override;

  private:
    class team;

    int n_;
    std::shared_ptr<team> team_; // of the process that ran the last loop
    std::atomic<bool> is_busy_ = false;
  };
}
