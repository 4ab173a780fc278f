#pragma once

/// \file
/// The SIMD back-end for user-defined interactions: it instantiates the tile for the instruction set
/// that the including file is compiled for (xsimd::default_arch). Do not include it in .cu files.

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
    constexpr register_block one = block_of(bytes, sizeof(T), K::n_out, false);
    constexpr register_block both = block_of(bytes, sizeof(T), K::n_out, true);
    return make_kernels<K, pack<T, Arch, one.registers>, one, pack<T, Arch, both.registers>,
                        both>();
  }

  template <class K, class T>
  struct own_simd_kernels<K, T, void>
  {
    static p2p_kernels<T> get() { return simd_kernels<K, T, xsimd::default_arch>(); }
  };
}
