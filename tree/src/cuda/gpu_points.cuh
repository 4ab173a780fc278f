#pragma once

#include "gpu_points.hpp"
#include "gpu_points_device.cuh"

namespace nearfield::detail
{
  template <class T, int Dim>
  gpu_points<T, Dim>::gpu_points(int number, executor& on)
      : device_(std::make_unique<device>(number, on))
  {}
  template <class T, int Dim>
  gpu_points<T, Dim>::~gpu_points() = default;

  template <class T, int Dim>
  std::optional<point_bounds<T, Dim>>
  gpu_points<T, Dim>::load(strided<T const, Dim> const& points,
                           std::array<double, Dim> const& period)
  {
    return device_->load(points, period);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::sort(std::array<key_axis, Dim> const& axes, key_layout const& layout)
  {
    device_->sort(axes, layout);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_keys(std::uint64_t* to)
  {
    device_->read_keys(to);
  }
  template <class T, int Dim>
  std::vector<std::size_t> gpu_points<T, Dim>::places_of(std::span<std::uint64_t const> keys)
  {
    return device_->places_of(keys);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read(std::size_t first, strided<T, Dim> const& x,
                                strided_column<index_type> const& index)
  {
    device_->read(first, x, index);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::unite(std::size_t first, std::size_t n,
                                 strided<T const, Dim> const& others, std::size_t n_before,
                                 index_type* places, index_type* rows)
  {
    device_->unite(first, n, others, n_before, places, rows);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_united(std::array<T*, Dim> const& x)
  {
    device_->read_united(x);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_indices(index_type* index)
  {
    device_->read_indices(index);
  }
  template <class T, int Dim>
  std::array<T const*, Dim> gpu_points<T, Dim>::united() const
  {
    return device_->united();
  }
  template <class T, int Dim>
  index_type const* gpu_points<T, Dim>::indices() const
  {
    return device_->indices();
  }
  template <class T, int Dim>
  index_type gpu_points<T, Dim>::make_leaves(index_type max_leaf_size, curve_range const& owned)
  {
    return device_->make_leaves(max_leaf_size, owned);
  }
  template <class T, int Dim>
  curve_range gpu_points<T, Dim>::extent()
  {
    return device_->extent();
  }
  template <class T, int Dim>
  std::optional<page_vector<border_leaf<Dim>>>
  gpu_points<T, Dim>::find_border(std::span<curve_range const> parts, std::size_t part)
  {
    return device_->if_it_fits([&] { return device_->find_border(parts, part); });
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::read_leaves(leaf_set<Dim>& to)
  {
    device_->read_leaves(to);
  }
  template <class T, int Dim>
  std::optional<met_leaves> gpu_points<T, Dim>::meet(part_leaves<Dim> const& known)
  {
    return device_->if_it_fits([&] { return device_->meet(known); });
  }
  template <class T, int Dim>
  part_lists<Dim> gpu_points<T, Dim>::lists(pair_form form) const
  {
    return device_->lists(form);
  }
  template <class T, int Dim>
  void gpu_points<T, Dim>::release(bool keeps_united) noexcept
  {
    device_->release(keeps_united);
  }
}
