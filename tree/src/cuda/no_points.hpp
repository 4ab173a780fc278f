#pragma once

#include "gpu_points.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  /// The points of a build without CUDA: the constructor says how to get one with it.
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

  // never called
  template <class T, int Dim>
  std::optional<point_bounds<T, Dim>> gpu_points<T, Dim>::load(strided<T const, Dim> const&,
                                                               std::array<double, Dim> const&)
  {
    return {};
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::sort(std::array<key_axis, Dim> const&, key_layout const&)
  {}
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_keys(std::uint64_t*)
  {}
  template <class T, int Dim>
  std::vector<std::size_t> gpu_points<T, Dim>::places_of(std::span<std::uint64_t const>)
  {
    return {};
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read(std::size_t, strided<T, Dim> const&,
                                strided_column<index_type> const&)
  {}
  template <class T, int Dim>
  void gpu_points<T, Dim>::unite(std::size_t, std::size_t, strided<T const, Dim> const&,
                                 std::size_t, index_type*, index_type*)
  {}
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_united(std::array<T*, Dim> const&)
  {}
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_indices(index_type*)
  {}
  template <class T, int Dim>
  std::array<T const*, Dim> gpu_points<T, Dim>::united() const
  {
    return {};
  }
  template <class T, int Dim>
  index_type const* gpu_points<T, Dim>::indices() const
  {
    return nullptr;
  }
  template <class T, int Dim>
  index_type gpu_points<T, Dim>::make_leaves(index_type, curve_range const&)
  {
    return 0;
  }
  template <class T, int Dim>
  curve_range gpu_points<T, Dim>::extent()
  {
    return {};
  }
  template <class T, int Dim>
  std::optional<page_vector<border_leaf<Dim>>>
  gpu_points<T, Dim>::find_border(std::span<curve_range const>, std::size_t)
  {
    return {};
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_leaves(leaf_set<Dim>&)
  {}
  template <class T, int Dim>
  std::optional<met_leaves> gpu_points<T, Dim>::meet(part_leaves<Dim> const&)
  {
    return {};
  }
  template <class T, int Dim>
  part_lists<Dim> gpu_points<T, Dim>::lists(pair_form) const
  {
    return {};
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::release(bool) noexcept
  {}
}
