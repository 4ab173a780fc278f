#pragma once

/// \file
/// The SIMD back-end for user-defined interactions: it instantiates the tile for the instruction set
/// that the including file is compiled for (xsimd::default_arch). On x86 that is SSE2 without -march: a warning
/// says so unless NEARFIELD_ALLOW_SLOW_SIMD is defined. nearfield_add_interaction() compiles an interaction for
/// every instruction set. Do not include this header in .cu files.

#if (defined(__x86_64__) || defined(__i386__)) && !defined(__AVX2__) &&                            \
    !defined(NEARFIELD_ALLOW_SLOW_SIMD)
#warning "<nearfield/p2p/simd.hpp> is compiled for less than AVX2, which is several times slower:"
#warning "use nearfield_add_interaction(), or -march=native, or define NEARFIELD_ALLOW_SLOW_SIMD"
#endif

#include <nearfield/p2p/backend.hpp>
#include <nearfield/simd/pack.hpp>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class T, class Arch>
  inline constexpr int register_bytes = static_cast<int>(xsimd::batch<T, Arch>::size * sizeof(T));

  /// The kernels of K on instruction set Arch, with the register blocks of tuning.hpp.
  template <class K, class T, class Arch>
  constexpr p2p_kernels<T> simd_kernels()
  {
    constexpr int bytes = register_bytes<T, Arch>;
    constexpr register_block one = block_of(bytes, sizeof(T), K::n_out, false, calls_functions<K>);
    constexpr register_block both = block_of(bytes, sizeof(T), K::n_out, true, calls_functions<K>);
    return make_kernels<K, pack<T, Arch, one.registers>, one, pack<T, Arch, both.registers>,
                        both>();
  }

  template <class K, class T>
  struct own_simd_kernels<K, T, void>
  {
    static p2p_kernels<T> get() { return simd_kernels<K, T, xsimd::default_arch>(); }
  };
}
