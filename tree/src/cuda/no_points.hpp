#pragma once

#include "gpu_points.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  /// The sort of a build without CUDA: the constructor says how to get one with it.
  template <class T, int Dim>
  class gpu_points<T, Dim>::device
  {};

  template <class T, int Dim>
  gpu_points<T, Dim>::gpu_points(int, executor&)
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
  template <class T, int Dim>
  gpu_points<T, Dim>::~gpu_points() = default;

  template <class T, int Dim>
  void gpu_points<T, Dim>::sort(strided<T const, Dim> const&, std::array<key_axis, Dim> const&,
                                key_layout const&, std::uint64_t*, index_type*,
                                std::array<T*, Dim> const&)
  {}
}
