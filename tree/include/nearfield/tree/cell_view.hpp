#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <span>

namespace nearfield
{
  /// Points sorted by the cells of a grid, and the lists of cells that meet: the input of a radius search. It
  /// owns nothing. The *position* of a point is its place in `target_x` or `source_x`.
  ///
  /// Every column and `source_order` have `padding` more readable values after the last point, because vector
  /// kernels load whole registers. Coordinates there are finite.
  ///
  /// A box is a cell with points in it. The ranges of a box ascend by position; the half list holds those
  /// after the box. Shift s of a list is the image of the sources at x_j + shifts[s]: the displacement is
  /// (x_i - x_j) - shifts[s], in T. Along a minimum-image axis of the grid there is one cell, and each pair
  /// takes its nearest image.
  template <class T, int Dim>
  struct cell_view
  {
    static constexpr int padding = 16; ///< readable values after the end of every column

    cell_grid<T, Dim> grid; ///< the grid of the cells

    soa<T const, Dim> target_x; ///< coordinates of the targets, by position
    soa<T const, Dim> source_x; ///< coordinates of the sources, by position
    /// position -> index in the arrays that were given
    std::span<index_type const> target_order;
    std::span<index_type const> source_order; ///< the same for the sources
    boxes targets;                            ///< box b holds the targets of one cell
    boxes sources;                            ///< box b holds the sources of the same cell

    /// targets and sources are the same points
    bool one_set = true;
    interaction_list full; ///< each box and all boxes that it meets
    /// each pair of boxes once; one set only
    interaction_list half;
  };

  /// A type whose view() has its cells, such as cell_list.
  template <class C>
  concept has_cell_view = requires(C const& cells)
  {
    cells.view().grid;
    cells.view().target_x;
    cells.view().full;
  };
}
