#pragma once

#include "sort.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  /// One set of points in the order of their cells, and the occupied cells.
  template <class T, int Dim>
  struct sorted_cells
  {
    std::array<std::vector<T>, Dim> x;
    std::vector<index_type> order;
    /// ascending
    std::vector<std::uint64_t> keys;
    /// cell c holds the points [offsets[c], offsets[c + 1])
    std::vector<index_type> offsets;

    [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.back(); }
    [[nodiscard]] soa<T const, Dim> positions() const
    {
      std::array<T const*, Dim> columns;
      for (int d = 0; d < Dim; ++d) columns[d] = x[d].data();
      return {columns, size()};
    }
    [[nodiscard]] std::span<index_type const> indices() const { return {order.data(), size()}; }
  };

  /// Scratch memory of sort_into_cells.
  struct cell_sort_scratch
  {
    std::vector<std::uint32_t> cell_of_point;
    std::vector<index_type> cursors;
    std::vector<keyed_point> keyed, keyed_too;
  };

  /// Sorts the points by the keys of the grid; stable.
  template <class T, int Dim>
  void sort_into_cells(strided<T const, Dim> const& points, cell_grid<T, Dim> const& grid,
                       sorted_cells<T, Dim>& sorted, cell_sort_scratch& scratch);

  template <class T, int Dim>
  struct point_bounds
  {
    std::array<T, Dim> lower, upper;
  };

  /// Extends `bounds` to hold all points. Throws nearfield::error, naming the point, for a coordinate that is
  /// not finite or, on a periodic axis, outside [0, L).
  template <class T, int Dim>
  void extend_bounds(point_bounds<T, Dim>& bounds, strided<T const, Dim> const& points,
                     std::type_identity_t<std::array<T, Dim>> const& period, char const* name);
}
