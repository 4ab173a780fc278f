#pragma once

/// \file
/// Two one-sided kernels written out by hand in the form of the library's tile (broadcast targets,
/// sources in lanes, seed and Newton step, a test for zero distance), to see what the linear maps and
/// the generic loop cost. n is a multiple of the lanes and of 4.

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
