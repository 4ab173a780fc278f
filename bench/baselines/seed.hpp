#pragma once

/// \file
/// The two CPU kernels that this project starts from, re-expressed from their description in the Kokkos
/// P2P study of the CONCACE team: the plain loop over i and j, and the xsimd loop with targets in lanes,
/// a divide and a root a pair, and a mask on the indices. They take no part in the library. Here they
/// are extended to three dimensions and to the gradient in the way they are written, and compiled with
/// the flags of the kernels that they are timed beside.

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

  // one file each, compiled with the flags of that instruction set
  seed_table const& seed_sse2();
  seed_table const& seed_avx2();
  seed_table const& seed_avx512();
}
