#pragma once

#include "gpu_sorter.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  /// The sort of a build without CUDA: the constructor says how to get one with it.
  template <class T, int Dim>
  class gpu_sorter<T, Dim>::device
  {};

  template <class T, int Dim>
  gpu_sorter<T, Dim>::gpu_sorter(int, executor&)
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
  template <class T, int Dim>
  gpu_sorter<T, Dim>::~gpu_sorter() = default;

  template <class T, int Dim>
  void gpu_sorter<T, Dim>::sort(strided<T const, Dim> const&, std::array<key_axis, Dim> const&,
                                key_layout const&, std::uint64_t*, index_type*,
                                std::array<T*, Dim> const&)
  {}
}
