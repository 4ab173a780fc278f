#pragma once

#include <nearfield/core/cell.hpp>

#include <cstddef>

namespace nearfield::test
{
  /// points[i] of the i-th x, all in device memory.
  template <class T, int Dim>
  void reduce_on_gpu(detail::cell_frame<Dim> const& frame, std::array<T, Dim> const* x,
                     detail::reduced_point<T, Dim>* points, std::size_t n);
}
