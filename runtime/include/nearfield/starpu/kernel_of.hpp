#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/cuda_job.hpp>

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
/// Where the type of an interaction ends: steps, codelets and tasks know it as its kernels and its bytes.

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether tasks of K have a CUDA implementation: a built-in interaction has, one of your own where it
  /// says `static constexpr bool has_cuda = true`, which promises NEARFIELD_CUDA_KERNELS(K) in a .cu file.
  template <class K>
  inline constexpr bool has_cuda_codelets = builtin_interaction<K> || requires
  {
    requires K::has_cuda;
  };
}

namespace nearfield::starpu::detail
{
  /// A number for a type, the same in every run of a program.
  NEARFIELD_API std::uint32_t type_number(std::type_info const& type);

  /// What is known of the type of an interaction in either precision.
  struct interaction_shape
  {
    std::string_view name;
    int dim, n_in, n_out;
    bool has_way_back;
    bool is_builtin;
    bool has_cuda;
    std::uint32_t type;
    /// what its simd kernels are compiled for; empty: for every instruction set, of which simd takes one
    std::string_view own_isa;
  };

  template <class T>
  struct kernel;

  /// An interaction's type: one object for each type, precision, and instruction set of the files that use it.
  template <class T>
  struct kernel_type : interaction_shape
  {
    p2p_kernels<T> (*simd)(); ///< throws error where the instruction set asked for is not available
    p2p_kernels<T> (*scalar)();       ///< never throws
    cuda_kernels<T> (*cuda)();        ///< null where there are none
    kernel<T> const& (*by_default)(); ///< of K(); null where K has no default
  };

  /// An interaction: its type and a copy of its value.
  template <class T>
  struct kernel
  {
    kernel_type<T> const* type;
    std::shared_ptr<void const> k;
    bool is_singular;
    bool tests_for_zero;
  };
}

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// A template argument of constructors that call kernel_of: files of different instruction sets share no
  /// copy of them.
  struct isa_of_file;

  /// The end of the type K.
  template <class T, class K>
  struct kernel_maker
  {
    static kernel<T> make(K const& k)
    {
      return {&type(), std::make_shared<K>(k), is_singular<T>(k),
              nearfield::detail::tests_for_zero<T>(k)};
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
      made.n_in = K::n_in;
      made.n_out = K::n_out;
      made.has_way_back = nearfield::detail::has_way_back<K>;
      made.is_builtin = builtin_interaction<K>;
      made.has_cuda = has_cuda_codelets<K>;
      made.type = type_number(typeid(K));
      made.own_isa = dispatched_interaction<K> ? "" : NEARFIELD_ISA_NAME;
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
      if constexpr (std::is_default_constructible_v<K>) made.by_default = &by_default;
      return made;
    }

    static kernel<T> const& by_default()
    {
      static kernel<T> const k = make(K{});
      return k;
    }
  };

  /// All that the StarPU layer asks of an interaction.
  template <kernel_real T, interaction K>
  kernel<T> kernel_of(K const& k)
  {
    return kernel_maker<T, K>::make(k);
  }
}
