#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <starpu.h>

#if defined(STARPU_USE_CUDA)
#include <nearfield/p2p/cuda.hpp>
#endif

#include <memory>
#include <string_view>
#include <type_traits>

/// \file
/// Interactions without their types, as steps, codelets and tasks have them: what all calls ask (shape_of, is_singular,
/// tests_for_zero, cutoff_of, value_at), kept beside the compiled kernels. Types of built-in interactions are in the
/// library, by the number that any_interaction has too; those of others are made here.

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether tasks of K have a CUDA implementation. Built-in interactions have one; a user-defined one has
  /// one if it declares `static constexpr bool has_cuda = true` and a .cu file contains
  /// NEARFIELD_CUDA_KERNELS(K).
  template <class K>
  inline constexpr bool has_cuda_codelets =
      nearfield::detail::library_interaction<K> || requires { requires K::has_cuda; };
}

namespace nearfield::starpu::detail
{
  using nearfield::detail::called_interaction;

  /// A hash of the name of a type, the same in every run of a program.
  NEARFIELD_API int type_number(std::string_view type_name);

  /// What both precisions of an interaction have in common.
  struct kernel_shape : nearfield::detail::interaction_shape
  {
    /// of the compiler; empty if it is built in
    std::string_view type_name;
    /// in builtin_interactions; of one that is not there, type_number(type_name)
    int number;
    bool has_cuda;
    /// the instruction set that its SIMD kernels were compiled for; empty: all, selected at run time
    std::string_view own_isa;
  };

  template <class T>
  struct kernel;

  /// The type of an interaction: one object per type and precision and, of one that is not built in, instruction set of
  /// the files that use it. Functions take its number.
  template <class T>
  struct kernel_type : kernel_shape
  {
    /// throws nearfield::error if NEARFIELD_ISA names an instruction set that is not available
    nearfield::detail::p2p_kernels<T> (*simd)(int number);
    nearfield::detail::p2p_kernels<T> (*scalar)(int number);
    nearfield::detail::cuda_kernels<T> (*cuda)(int number); ///< null if there are none
    kernel<T> (*by_default)(int number); ///< with default parameters; null if it cannot be made
  };

  /// An interaction: its type and a copy of its value.
  template <class T>
  struct kernel
  {
    kernel_type<T> const* type;
    std::shared_ptr<void const> k;
    bool is_singular;
    bool tests_for_zero;
    double cutoff; ///< 0 if there is none
  };

  /// The type of entry `number` of builtin_interactions, whether or not this build has its kernels.
  template <class T>
  NEARFIELD_API kernel_type<T> const& builtin_kernel_type(int number);
  extern template kernel_type<float> const& builtin_kernel_type(int);
  extern template kernel_type<double> const& builtin_kernel_type(int);
}

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Default template argument of the constructors that call kernel_of, so that files compiled for different
  /// instruction sets share no copy of them.
  struct isa_of_file;

  template <nearfield::detail::kernel_real T, called_interaction K>
  kernel<T> kernel_of(K const& k);

  /// The type of an interaction that is not built in.
  template <class T, interaction K>
  kernel_type<T> own_kernel_type(K const& k)
  {
    auto const type_name = nearfield::detail::type_name_of<K>();
    kernel_type<T> made{{nearfield::detail::shape_of(k), type_name, type_number(type_name),
                         has_cuda_codelets<K>,
                         nearfield::detail::dispatched_interaction<K> ? "" : NEARFIELD_ISA_NAME},
                        [](int) { return kernels_of<T, K>(nearfield::simd); },
                        [](int) { return kernels_of<T, K>(nearfield::scalar); },
                        nullptr,
                        nullptr};
#if defined(STARPU_USE_CUDA)
    if constexpr (has_cuda_codelets<K>)
      made.cuda = [](int)
      {
        return cuda_kernels_of<T, K>();
      };
#endif
    if constexpr (std::is_default_constructible_v<K>)
      made.by_default = [](int)
      {
        return kernel_of<T>(K{});
      };
    return made;
  }

  template <class T, called_interaction K>
  kernel_type<T> const& kernel_type_of(K const& k)
  {
    if constexpr (nearfield::detail::library_interaction<K>)
      return builtin_kernel_type<T>(nearfield::detail::number_of(k));
    else
    {
      static kernel_type<T> const made = own_kernel_type<T>(k);
      return made;
    }
  }

  /// The type-erased form of an interaction, as the StarPU layer uses it.
  template <nearfield::detail::kernel_real T, called_interaction K>
  kernel<T> kernel_of(K const& k)
  {
    auto const copy = std::make_shared<K>(k);
    return {&kernel_type_of<T>(k),
            {copy, nearfield::detail::value_at(*copy)},
            is_singular<T>(k),
            nearfield::detail::tests_for_zero<T>(k),
            nearfield::detail::cutoff_of(k)};
  }

  /// The same for leaves in Dim dimensions. Throws nearfield::error for points in others where only the run tells.
  template <nearfield::detail::kernel_real T, int Dim, called_interaction K>
  kernel<T> kernel_over(K const& k)
  {
    nearfield::detail::check_dim<Dim>(k);
    return kernel_of<T>(k);
  }
}
