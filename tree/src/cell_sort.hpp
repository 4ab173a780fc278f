#pragma once

#include "reduce.hpp"
#include "sort.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace nearfield::detail
{
  /// One set of points in the order of their cells, those of one system after another.
  template <class T, int Dim>
  struct points_by_cell
  {
    static constexpr std::size_t padding = cell_view<T, Dim>::padding;

    page_vector<T> x; ///< one column after the other, each with padding
    page_vector<index_type> order;
    std::size_t n = 0;

    /// Makes room for points, and writes the padding.
    void renew_for(std::size_t points)
    {
      n = points;
      renew(order, n + padding);
      renew(x, Dim * (n + padding));
      std::fill_n(order.data() + n, padding, 0);
      pad();
    }
    /// Writes the padding of the columns.
    void pad()
    {
      for (std::size_t d = 0; d < Dim; ++d)
        std::fill_n(x.data() + d * (n + padding) + n, padding, T(0));
    }
    [[nodiscard]] soa<T const, Dim> positions() const
    {
      return columns_in<Dim>(std::span<T const>(x), n);
    }
    [[nodiscard]] std::span<index_type const> indices() const { return {order.data(), n}; }
  };

  /// Sorts the points of a system by the keys of the grid, to the positions from `first` on; stable. `order` gets their
  /// indices, from 0.
  template <class T, int Dim>
  void sort_into_cells(executor& on, strided<T const, Dim> const& points,
                       cell_grid<T, Dim> const& grid, std::size_t first,
                       points_by_cell<T, Dim>& sorted, occupied_cells& cells,
                       sort_scratch& scratch);

  /// Throws nearfield::error for a null column, and 2^32 - 64 points or more.
  template <class T, int Dim>
  NEARFIELD_API void require_columns(strided<T const, Dim> const& points, char const* name);
}
