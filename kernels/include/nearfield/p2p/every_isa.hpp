#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/job.hpp>

/// \file
/// User-defined interactions compiled for every instruction set, as the built-in ones are: `simd` runs the
/// widest that the machine supports. The header of the interaction ends in
///
///     NEARFIELD_INTERACTION(my::softened)
///
/// and the CMake function nearfield_add_interaction() (docs/packages.md) compiles it. Files that use it need
/// neither flags nor <nearfield/p2p/simd.hpp>.

namespace nearfield::detail
{
  /// NEARFIELD_INTERACTION(K) makes it true.
  template <class K>
  inline constexpr bool is_registered = false;

  /// Defined by nearfield_add_interaction(): if the linker does not find it, that line of CMake is missing.
  template <class K, class T>
  p2p_kernels<T> registered_kernels(isa where);

  // One file each, for the instruction sets that nearfield was built with.
  template <class K, class T>
  p2p_kernels<T> sse2_kernels();
  template <class K, class T>
  p2p_kernels<T> avx2_kernels();
  template <class K, class T>
  p2p_kernels<T> avx512_kernels();
  template <class K, class T>
  p2p_kernels<T> neon64_kernels();
}

/// Declares that nearfield_add_interaction() compiles the kernels of an interaction. Write it at global
/// scope, after the definition and in the same header, so that all files agree. The kernels are exported even
/// from a library built with hidden visibility.
#define NEARFIELD_INTERACTION(...)                                                                 \
  template <>                                                                                      \
  inline constexpr bool nearfield::detail::is_registered<__VA_ARGS__> = true;                      \
  template <>                                                                                      \
  NEARFIELD_API nearfield::detail::p2p_kernels<float>                                              \
      nearfield::detail::registered_kernels<__VA_ARGS__, float>(nearfield::isa);                   \
  template <>                                                                                      \
  NEARFIELD_API nearfield::detail::p2p_kernels<double>                                             \
      nearfield::detail::registered_kernels<__VA_ARGS__, double>(nearfield::isa);
