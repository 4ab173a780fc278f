#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/isa.hpp>
#include <nearfield/p2p/job.hpp>

/// \file
/// An interaction of your own that is compiled for every instruction set, as the built-in ones are, and of
/// which `simd` takes the widest that the machine has. Its header ends in
///
///     NEARFIELD_INTERACTION(my::softened)
///
/// and nearfield_add_interaction() of CMake (docs/packages.md) compiles it. Files that use it need neither
/// flags nor <nearfield/p2p/simd.hpp>.

namespace nearfield::detail
{
  /// NEARFIELD_INTERACTION(K) makes it true.
  template <class K>
  inline constexpr bool is_registered = false;

  /// Defined by nearfield_add_interaction(): a linker that misses it misses that line of CMake.
  template <class K, class T>
  p2p_kernels<T> registered_kernels(isa which);

  // One file each, of those that nearfield was built with.
  template <class K, class T>
  p2p_kernels<T> sse2_kernels();
  template <class K, class T>
  p2p_kernels<T> avx2_kernels();
  template <class K, class T>
  p2p_kernels<T> avx512_kernels();
  template <class K, class T>
  p2p_kernels<T> neon64_kernels();
}

/// Says that nearfield_add_interaction() compiles the kernels of an interaction. Stands at global scope, below
/// its definition and in the same header, so that all files agree. A shared library that compiles them shows them, whatever
/// it hides else.
#define NEARFIELD_INTERACTION(...)                                                                 \
  template <>                                                                                      \
  inline constexpr bool nearfield::detail::is_registered<__VA_ARGS__> = true;                      \
  template <>                                                                                      \
  NEARFIELD_API nearfield::p2p_kernels<float>                                                      \
      nearfield::detail::registered_kernels<__VA_ARGS__, float>(nearfield::isa);                   \
  template <>                                                                                      \
  NEARFIELD_API nearfield::p2p_kernels<double>                                                     \
      nearfield::detail::registered_kernels<__VA_ARGS__, double>(nearfield::isa);
