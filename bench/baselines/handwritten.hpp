#pragma once

/// \file
/// Two one-sided kernels written by hand in the form of the library's tile (broadcast targets, sources
/// in lanes, seed and Newton step, a test for zero distance), to measure the cost of the linear maps and
/// the generic loop. n must be a multiple of the lanes and of 4.

#include <cstddef>

namespace baseline
{
  using outer_function = void (*)(std::size_t n, float const* const* x, float const* const* y,
                                  float const* const* q, float* const* out);

  struct handwritten_table
  {
    outer_function val_grad_one_over_r;
    outer_function dipole_tensor;
  };

  handwritten_table const& handwritten_avx2();
  handwritten_table const& handwritten_avx512();
}
