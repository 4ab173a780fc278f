#pragma once

#include "batches.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cuda.hpp>

#include <optional>
#include <type_traits>

/// \file
/// The list of a batch on the GPU.

namespace nearfield::test
{
  /// Of points in device memory: targets, and sources unless they are one set.
  template <class T, int Dim>
  void emplace(std::optional<cuda_cell_list<T, Dim>>& list, cuda_backend where,
               batch<T, Dim> const& of, std::type_identity_t<strided<T const, Dim>> const& x,
               std::type_identity_t<strided<T const, Dim>> const& y)
  {
    if (of.one_set)
      list.emplace(where, x, of.given(), of.options);
    else
      list.emplace(where, x, y, of.given(), of.options);
  }
}
