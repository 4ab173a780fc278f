#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <starpu.h>

#if defined(STARPU_USE_CUDA)
#include <nearfield/p2p/cuda.hpp>
#endif

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <typeinfo>

/// \file
/// Type erasure of interactions: steps, codelets and tasks see their compiled kernels and a copy of their value.

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether tasks of K have a CUDA implementation. Built-in interactions have one; a user-defined one has
  /// one if it declares `static constexpr bool has_cuda = true` and a .cu file contains
  /// NEARFIELD_CUDA_KERNELS(K).
  template <class K>
  inline constexpr bool has_cuda_codelets =
      nearfield::detail::builtin_interaction<K> || requires { requires K::has_cuda; };
}

namespace nearfield::starpu::detail
{
  /// A hash of a type's name, the same in every run of a program.
  NEARFIELD_API std::uint32_t type_number(std::type_info const& type);

  /// What both precisions of an interaction have in common.
  struct interaction_shape
  {
    std::string_view name;
    int dim, n_x, n_in, n_out; ///< n_x: columns of points
    bool has_way_back;
    bool has_cutoff;
    bool is_builtin;
    bool has_cuda;
    std::uint32_t type;
    /// the instruction set that its SIMD kernels were compiled for; empty: all, selected at run time
    std::string_view own_isa;
  };

  template <class T>
  struct kernel;

  /// The type of an interaction: one object per type, precision, and instruction set of the files that use it.
  template <class T>
  struct kernel_type : interaction_shape
  {
    /// throws nearfield::error if NEARFIELD_ISA names an instruction set that is not available
    nearfield::detail::p2p_kernels<T> (*simd)();
    nearfield::detail::p2p_kernels<T> (*scalar)(); ///< never throws
    nearfield::detail::cuda_kernels<T> (*cuda)();  ///< null if there are none
    kernel<T> (*by_default)(); ///< of K(); null if K is not default-constructible
    /// what a pair_cost of the K at k is of
    nearfield::detail::cost_subject (*subject)(void const* k, bool is_mutual,
                                               std::string_view worker);
  };

  /// An interaction: its type and a copy of its value.
  template <class T>
  struct kernel
  {
    kernel_type<T> const* type;
    std::shared_ptr<void const> k;
    bool is_singular;
    bool tests_for_zero;
    double cutoff = 0; ///< of interactions that have one
  };
}

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Default template argument of the constructors that call kernel_of, so that files compiled for different
  /// instruction sets share no copy of them.
  struct isa_of_file;

  /// Makes the type-erased form of K.
  template <class T, class K>
  struct kernel_maker
  {
    static kernel<T> make(K const& k)
    {
      kernel<T> made{&type(), std::make_shared<K>(k), is_singular<T>(k),
                     nearfield::detail::tests_for_zero<T>(k)};
      if constexpr (nearfield::detail::has_cutoff<K>) made.cutoff = k.cutoff();
      return made;
    }

    static kernel_type<T> const& type()
    {
      static kernel_type<T> const made = make_type();
      return made;
    }

  private:
    static kernel_type<T> make_type()
    {
      kernel_type<T> made{};
      made.name = K::name;
      made.dim = K::dim;
      made.n_x = nearfield::detail::point_columns<K>;
      made.n_in = K::n_in;
      made.n_out = K::n_out;
      made.has_way_back = nearfield::detail::has_way_back<K>;
      made.has_cutoff = nearfield::detail::has_cutoff<K>;
      made.is_builtin = nearfield::detail::builtin_interaction<K>;
      made.has_cuda = has_cuda_codelets<K>;
      made.type = type_number(typeid(K));
      made.own_isa = nearfield::detail::dispatched_interaction<K> ? "" : NEARFIELD_ISA_NAME;
      made.simd = []
      {
        return kernels_of<T, K>(nearfield::simd);
      };
      made.scalar = []
      {
        return kernels_of<T, K>(nearfield::scalar);
      };
#if defined(STARPU_USE_CUDA)
      if constexpr (has_cuda_codelets<K>) made.cuda = &cuda_kernels_of<T, K>;
#endif
      if constexpr (std::is_default_constructible_v<K>)
        made.by_default = []
        {
          return make(K{});
        };
      made.subject = [](void const* k, bool is_mutual, std::string_view worker)
      {
        return nearfield::detail::cost_subject_of<T>(*static_cast<K const*>(k), is_mutual, worker);
      };
      return made;
    }
  };

  /// The type-erased form of an interaction, as the StarPU layer uses it.
  template <nearfield::detail::kernel_real T, interaction K>
  kernel<T> kernel_of(K const& k)
  {
    return kernel_maker<T, K>::make(k);
  }
}
