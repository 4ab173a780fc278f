#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/starpu/monitor.hpp>

#include <starpu.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

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
///       static constexpr std::initializer_list<starpu_data_access_mode> modes = {...};
///       static void run(p2p_kernels<T> const& kernels, K const& k, void** buffers);
///                                               // and bool ranges_may_coincide, if it works on a list
///       static double interactions(starpu_task* task);  // of a task without an argument
///     };
///
/// The modes are empty where the number of buffers varies.

namespace nearfield::starpu
{
  /// Which implementations a task may take.
  enum class backend_choice
  {
    automatic, ///< SIMD, or what a scheduler with performance models finds faster
    scalar,
    simd
  };
}

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// What travels with a P2P task, by value.
  template <interaction K>
  struct task_argument
  {
    K k;
    /// where the task reports; null: runtime::wait() of the process
    monitor* watch = nullptr;
    /// directed pairs, for the performance model; 0: to be found from the sizes of the buffers
    double interactions = 0;
    /// points of different leaves may be at one place
    bool ranges_may_coincide = false;
  };
}

namespace nearfield::starpu::detail
{
  /// The codelet with everything that does not depend on an operation.
  class codelet_base
  {
  public:
    codelet_base(std::string const& name, std::string const& symbol,
                 std::initializer_list<starpu_data_access_mode> modes,
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
  uint32_t work_bin(double interactions);
}

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{

  template <class Operation>
  class codelet : public codelet_base
  {
    using K = typename Operation::interaction_type;
    using T = typename Operation::real;

  public:
    /// The codelet for a backend. It lives until the process ends, as StarPU's models need. Throws
    /// error when the instruction set asked for is not available.
    static starpu_codelet& of(backend_choice which)
    {
      if (which == backend_choice::scalar) return instance<backend_choice::scalar>();
      if (which == backend_choice::simd) return instance<backend_choice::simd>();
      return instance<backend_choice::automatic>();
    }

    /// By implementation.
    static std::string_view const (&implementation_names())[monitor::n_implementations]
    {
      static std::string_view const names[] = {
          builtin_interaction<K> ? name_of(selected_isa()) : NEARFIELD_ISA_NAME, "scalar"};
      return names;
    }

  private:
    enum implementation
    {
      simd_implementation,
      scalar_implementation
    };

    template <backend_choice Which>
    static starpu_codelet& instance()
    {
      // never destroyed: StarPU writes the models when it stops, maybe after static objects are gone
      static codelet* const made = new codelet(Which);
      return made->get();
    }

    explicit codelet(backend_choice which)
        : codelet_base(Operation::name, symbol(which), Operation::modes, &footprint)
    {
      // lws, eager and prio take the first one, whichever is faster
      int n = 0;
      starpu_codelet& to = get();
      if (which != backend_choice::scalar)
      {
        kernels<simd_implementation>(); // throws here rather than in a task
        to.cpu_funcs[n++] = &cpu<simd_implementation>;
      }
      if (which != backend_choice::simd) to.cpu_funcs[n++] = &cpu<scalar_implementation>;
    }

    static std::string symbol(backend_choice which)
    {
      std::string const chosen(which == backend_choice::scalar ? "scalar"
                                                               : implementation_names()[0]);
      return "nearfield_" + std::string(Operation::name) + "_" + std::string(K::name) + "_" +
             std::to_string(K::dim) + "d_" + (sizeof(T) == 4 ? "f32_" : "f64_") + chosen +
             (which == backend_choice::automatic ? "_scalar" : "");
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

    static K default_interaction()
    {
      if constexpr (std::is_default_constructible_v<K>)
        return K();
      else
        throw error(std::string(Operation::name) + ": a task without an argument, but " +
                    std::string(K::name) + " has parameters; pass those of p2p::argument()");
    }

    template <implementation I>
    static void cpu(void** buffers, void* cl_arg) noexcept
    {
      auto const* const argument = static_cast<task_argument<K> const*>(cl_arg);
      monitor& watch = argument && argument->watch ? *argument->watch : monitor::of_process();
      try
      {
        watch.count(I);
        K const k = argument ? argument->k : default_interaction();
        // an operation on a list knows which pairs need no test
        if constexpr (requires { Operation::run(kernels<I>(), k, buffers, true); })
          Operation::run(kernels<I>(), k, buffers, argument && argument->ranges_may_coincide);
        else
          Operation::run(kernels<I>(), k, buffers);
      }
      catch (...)
      {
        watch.caught();
      }
    }

    static uint32_t footprint(starpu_task* task)
    {
      auto const* const argument = static_cast<task_argument<K> const*>(task->cl_arg);
      return work_bin(argument && argument->interactions > 0 ? argument->interactions
                                                             : Operation::interactions(task));
    }
  };

  /// The codelet of an operation that moves data of the caller, on a CPU: one implementation, which the
  /// statistics leave out. Operation::argument has a member `watch`.
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
                       Operation::modes, nullptr)
    {
      codelet_base::get().cpu_funcs[0] = &cpu;
    }

    static void cpu(void** buffers, void* cl_arg) noexcept
    {
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
