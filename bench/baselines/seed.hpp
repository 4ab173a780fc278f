#pragma once

/// \file
/// The two CPU kernels that this project started from, rewritten from their description in the Kokkos
/// P2P study of the CONCACE team: the plain loop over i and j, and the xsimd loop with targets in lanes,
/// one division and one root per pair, and a mask on the indices. They are not part of the library. Here
/// they are extended to three dimensions and to the gradient in the same style, and compiled with the
/// flags of the kernels they are compared with.

#include <nearfield/core/where.hpp>

#include <cstddef>

namespace baseline
{
  /// out[o][i] = sum_{j != i} K_o(x_i - x_j) q_j
  template <class T>
  using inner_function = void (*)(std::size_t n, T const* const* x, T const* q, T* const* out);

  /// [dimension - 2][0: 1/r, 1: 1/r and its gradient]
  template <class T>
  using by_dimension_and_output = inner_function<T>[2][2];

  struct seed_table
  {
    by_dimension_and_output<float> loop_f32, simd_f32;
    by_dimension_and_output<double> loop_f64, simd_f64;
  };

  // one source file per instruction set, compiled with its flags
  seed_table const& seed_sse2();
  seed_table const& seed_avx2();
  seed_table const& seed_avx512();

  /// Those of an instruction set, or nullptr if nearfield is not compiled for it.
  inline seed_table const* seeds_of(nearfield::isa which)
  {
    switch (which)
    {
#if defined(NEARFIELD_WITH_SSE2)
    case nearfield::isa::sse2:
      return &seed_sse2();
#endif
#if defined(NEARFIELD_WITH_AVX2)
    case nearfield::isa::avx2:
      return &seed_avx2();
#endif
#if defined(NEARFIELD_WITH_AVX512)
    case nearfield::isa::avx512:
      return &seed_avx512();
#endif
    default:
      return nullptr;
    }
  }
}
