#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/range.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/runtime/task_list.hpp>
#include <nearfield/starpu/monitor.hpp>

#include <starpu.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

/// \file
/// What all P2P codelets have in common, written once. A codelet is an *operation*: a struct with the
/// interaction and the precision it works for, its name, its buffers, and what it does with them.
///
///     template <interaction K, kernel_real T>
///     struct p2p_outer_operation
///     {
///       using interaction_type = K;
///       using real = T;
///       static constexpr char const* name = "p2p_outer";
///       static void run(p2p_kernels<T> const&, task_argument<K> const&, void** buffers);
///       static void run(cuda_kernels<T> const&, task_argument<K> const&, void** buffers, cuda_stream);
///       static double interactions(starpu_task* task);  // of a task without an argument
///     };
///
/// The number of buffers, and how a task accesses them, is said by each task.

namespace nearfield::starpu
{
  /// Which implementations a task may take.
  enum class backend_choice
  {
    automatic, ///< SIMD on CPU workers, CUDA on GPU workers
    scalar,
    simd,
    cuda ///< GPU workers only
  };

  /// The implementations among which StarPU's scheduler chooses.
  class NEARFIELD_API backend_set
  {
  public:
    /// That one; simd and cuda for automatic.
    backend_set(backend_choice one); // NOLINT(google-explicit-constructor)
    /// Those. Throws error for none.
    backend_set(std::initializer_list<backend_choice> several);

    /// plain C++ on CPU workers
    [[nodiscard]] bool has_scalar() const { return (bits_ & 1u) != 0; }
    /// SIMD on CPU workers
    [[nodiscard]] bool has_simd() const { return (bits_ & 2u) != 0; }
    /// CUDA on GPU workers
    [[nodiscard]] bool has_cuda() const { return (bits_ & 4u) != 0; }
    /// Whether cuda was named, and not only meant by automatic: then it must be there.
    [[nodiscard]] bool names_cuda() const { return names_cuda_; }
    /// 1 to 7, another one for each set of implementations.
    [[nodiscard]] unsigned index() const { return bits_; }

  private:
    unsigned bits_ = 0;
    bool names_cuda_ = false;
  };
}

namespace nearfield::starpu::detail
{
  /// A number for a type, the same in every run of a program.
  NEARFIELD_API uint32_t type_number(std::type_info const& type);

  template <class K>
  uint32_t type_number_of()
  {
    static uint32_t const number = type_number(typeid(K));
    return number;
  }
}

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// What travels with a P2P task.
  template <interaction K>
  struct task_argument
  {
    K const* k = nullptr; ///< the interaction, which may be large: it stays where it is
    /// where the task reports; null: runtime::wait() of the process
    monitor* watch = nullptr;
    /// directed pairs, for the performance model; 0: to be found from the sizes of the buffers
    double interactions = 0;
    /// points of different leaves may be at one place
    bool ranges_may_coincide = false;
    /// of a task with a list
    nearfield::detail::task_head const* head = nullptr;
    /// by which a codelet knows the argument of another interaction
    std::uint32_t type = detail::type_number_of<K>();
  };

  /// Whether codelets of K have a CUDA implementation: a built-in interaction has, one of your own where it
  /// says `static constexpr bool has_cuda = true`, which promises NEARFIELD_CUDA_KERNELS(K) in a .cu file.
  template <class K>
  inline constexpr bool has_cuda_codelets = builtin_interaction<K> || requires
  {
    requires K::has_cuda;
  };
}

namespace nearfield::starpu::detail
{
  /// The codelet with everything that does not depend on an operation. A task says how many buffers it has and
  /// how it accesses them.
  class NEARFIELD_API codelet_base
  {
  public:
    /// The symbol names a file of StarPU's: what no file name should have becomes an underscore.
    codelet_base(std::string const& name, std::string const& symbol,
                 uint32_t (*footprint)(starpu_task*));
    codelet_base(codelet_base const&) = delete;
    codelet_base& operator=(codelet_base const&) = delete;

    [[nodiscard]] starpu_codelet& get() { return codelet_; }

  protected:
    ~codelet_base() = default;

  private:
    std::string name_, symbol_;
    starpu_perfmodel model_{};
    starpu_codelet codelet_;
  };

  /// Tasks of like work share a bin: half octaves of the number of interactions.
  NEARFIELD_API uint32_t work_bin(double interactions);

  /// Why no task of this library can run on a GPU, in one line with the remedy; empty where StarPU, as it runs
  /// now, has workers for GPUs.
  NEARFIELD_API std::string gpu_problem();
}

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The codelets of an operation, one for each set of back-ends.
  template <class Operation>
  class codelet : public codelet_base
  {
    using K = typename Operation::interaction_type;
    using T = typename Operation::real;

  public:
    /// The codelet for some back-ends. It lives until the process ends, as StarPU's models need. Throws
    /// error when the instruction set asked for is not available, when cuda is named and there are no CUDA
    /// kernels, and when it is all that is named and StarPU, as it runs now, has no GPU that can run it.
    static starpu_codelet& of(backend_set which)
    {
      if (which.names_cuda()) check_cuda_codelet(!which.has_scalar() && !which.has_simd());
      static constexpr starpu_codelet& (*instances[])(backend_set) = {
          &instance<1>, &instance<2>, &instance<3>, &instance<4>,
          &instance<5>, &instance<6>, &instance<7>};
      return instances[which.index() - 1](which);
    }

    /// By implementation.
    static std::string_view const (&implementation_names())[monitor::n_implementations]
    {
      static std::string_view const names[] = {dispatched_interaction<K> ? name_of(selected_isa())
                                                                         : NEARFIELD_ISA_NAME,
                                               "scalar", "cuda"};
      return names;
    }

  private:
    enum implementation
    {
      simd_implementation,
      scalar_implementation,
      cuda_implementation
    };

    template <unsigned Index>
    static starpu_codelet& instance(backend_set which)
    {
      // never destroyed: StarPU writes the models when it stops, maybe after static objects are gone
      static codelet* const made = new codelet(which);
      return made->get();
    }

    explicit codelet(backend_set which) : codelet_base(Operation::name, symbol(which), &footprint)
    {
      // lws, eager and prio take the first one, whichever is faster; others any until they have
      // measured all
      int n = 0;
      starpu_codelet& to = get();
      if (which.has_simd())
      {
        kernels<simd_implementation>(); // throws here rather than in a task
        to.cpu_funcs[n++] = &cpu<simd_implementation>;
      }
      if (which.has_scalar()) to.cpu_funcs[n++] = &cpu<scalar_implementation>;
      to.where = n > 0 ? STARPU_CPU : 0;
      if (which.has_cuda()) add_cuda(to);
    }

    /// At each call: the next runtime of a process may have other workers.
    static void check_cuda_codelet(bool needs_a_gpu)
    {
      std::string problem;
      if (!has_cuda_codelets<K>)
        problem = "the interaction " + std::string(K::name) +
                  " has no CUDA kernels: give it has_cuda and NEARFIELD_CUDA_KERNELS";
      else if (!built_with_cuda())
        problem = cuda_problem();
      else if (needs_a_gpu)
        problem = gpu_problem();
      if (!problem.empty()) throw error("backend cuda: " + problem);
    }

    static void add_cuda([[maybe_unused]] starpu_codelet& to)
    {
#if defined(STARPU_USE_CUDA)
      if constexpr (has_cuda_codelets<K>)
        if (built_with_cuda())
        {
          cuda_kernels_of<T, K>();
          to.cuda_funcs[0] = &on_cuda;
          to.cuda_flags[0] = STARPU_CUDA_ASYNC;
          to.where |= STARPU_CUDA;
        }
#endif
    }

    static std::string symbol(backend_set which)
    {
      std::string implementations;
      if (which.has_simd()) implementations += "_" + std::string(implementation_names()[0]);
      if (which.has_scalar()) implementations += "_scalar";
      if (implementations.empty()) implementations = "_cuda";
      // two interactions of one name are two models
      std::string const type =
          builtin_interaction<K> ? "" : "_" + std::to_string(type_number_of<K>());
      return "nearfield_" + std::string(Operation::name) + "_" + std::string(K::name) + type + "_" +
             std::to_string(K::dim) + "d_" + (sizeof(T) == 4 ? "f32" : "f64") + implementations;
    }

    template <implementation I>
    static p2p_kernels<T> const& kernels()
    {
      static p2p_kernels<T> const compiled = []
      {
        if constexpr (I == simd_implementation)
          return kernels_of<T, K>(nearfield::simd);
        else
          return kernels_of<T, K>(nearfield::scalar);
      }();
      return compiled;
    }

    static K const& default_interaction()
    {
      if constexpr (std::is_default_constructible_v<K>)
      {
        static K const k{};
        return k;
      }
      else
        throw error(std::string(Operation::name) + ": a task without an argument, but " +
                    std::string(K::name) + " has parameters; pass those of p2p::argument()");
    }

    /// Throws error for an argument of another codelet: of another interaction, or packed by StarPU.
    static task_argument<K> const* argument_of(starpu_task const* task)
    {
      if (!task->cl_arg) return nullptr;
      if (task->cl_arg_size != sizeof(task_argument<K>))
        throw error(std::string(Operation::name) + ": the task's argument has " +
                    std::to_string(task->cl_arg_size) + " bytes, that of " + std::string(K::name) +
                    " has " + std::to_string(sizeof(task_argument<K>)) +
                    "; pass STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size()");
      auto const* const argument = static_cast<task_argument<K> const*>(task->cl_arg);
      if (argument->type != type_number_of<K>())
        throw error(std::string(Operation::name) +
                    ": the task's argument is not that of a p2p of " + std::string(K::name) +
                    "; pass the argument of the object whose codelet it is");
      return argument;
    }

    /// run(argument), whose exceptions are kept for wait().
    template <class Run>
    static void guarded(implementation which, Run&& run) noexcept
    {
      nearfield::detail::range const here("near field");
      monitor* watch = &monitor::of_process();
      try
      {
        auto const* const argument = argument_of(starpu_task_get_current());
        if (argument && argument->watch) watch = argument->watch;
        watch->count(which);
        run(argument ? *argument : task_argument<K>{&default_interaction()});
      }
      catch (...)
      {
        watch->caught();
      }
    }

    template <implementation I>
    static void cpu(void** buffers, void*) noexcept
    {
      guarded(I, [&](task_argument<K> const& argument)
              { Operation::run(kernels<I>(), argument, buffers); });
    }

#if defined(STARPU_USE_CUDA)
    static void on_cuda(void** buffers, void*) noexcept
    {
      guarded(cuda_implementation,
              [&](task_argument<K> const& argument) {
                Operation::run(cuda_kernels_of<T, K>(), argument, buffers,
                               starpu_cuda_get_local_stream());
              });
    }
#endif

    static uint32_t footprint(starpu_task* task)
    {
      auto const* const argument = static_cast<task_argument<K> const*>(task->cl_arg);
      bool const is_stated = argument && task->cl_arg_size == sizeof(task_argument<K>) &&
                             argument->type == type_number_of<K>() && argument->interactions > 0;
      return work_bin(is_stated ? argument->interactions : Operation::interactions(task));
    }
  };

  /// The codelet of an operation that moves data of the caller, on a CPU: one implementation, which the
  /// statistics leave out. Operation::argument has a member `watch`, Operation::range_name stands on the
  /// time line of a profiler.
  template <class Operation>
  class host_codelet : public codelet_base
  {
  public:
    static starpu_codelet& get()
    {
      static auto* const instance = new host_codelet;
      return instance->codelet_base::get();
    }

  private:
    host_codelet()
        : codelet_base(Operation::name,
                       "nearfield_" + std::string(Operation::name) +
                           (sizeof(typename Operation::real) == 4 ? "_f32" : "_f64"),
                       nullptr)
    {
      codelet_base::get().cpu_funcs[0] = &cpu;
    }

    static void cpu(void** buffers, void* cl_arg) noexcept
    {
      nearfield::detail::range const here(Operation::range_name);
      auto const& argument = *static_cast<typename Operation::argument const*>(cl_arg);
      try
      {
        Operation::run(argument, buffers);
      }
      catch (...)
      {
        argument.watch->caught();
      }
    }
  };
}
