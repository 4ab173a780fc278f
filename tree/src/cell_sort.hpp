#pragma once

#include "sort.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <span>
#include <type_traits>

namespace nearfield::detail
{
  /// One set of points in the order of their cells, and the occupied cells.
  template <class T, int Dim>
  struct sorted_cells : occupied_cells
  {
    page_vector<T> x; // one column after the other, each with padding
    page_vector<index_type> order;

    [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.back(); }
    [[nodiscard]] soa<T const, Dim> positions() const
    {
      std::array<T const*, Dim> columns;
      for (std::size_t d = 0; d < Dim; ++d) columns[d] = x.data() + d * (x.size() / Dim);
      return {columns, size()};
    }
    [[nodiscard]] std::span<index_type const> indices() const { return {order.data(), size()}; }
  };

  /// Sorts the points by the keys of the grid; stable.
  template <class T, int Dim>
  void sort_into_cells(executor& on, strided<T const, Dim> const& points,
                       cell_grid<T, Dim> const& grid, sorted_cells<T, Dim>& sorted,
                       sort_scratch& scratch);

  /// Throws nearfield::error for a null column, and 2^32 - 64 points or more.
  template <class T, int Dim>
  NEARFIELD_API void require_columns(strided<T const, Dim> const& points, char const* name);
}
