#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <span>

namespace nearfield
{
  /// Points sorted by the cells of a grid, and which cells meet which: what a radius search works on. It
  /// owns nothing. The *position* of a point is its place in `target_x` or `source_x`.
  ///
  /// After the last point every column, and `source_order`, has `padding` more values that may be read: a
  /// vector kernel loads whole registers. Coordinates there are finite.
  ///
  /// A box is a cell with points in it. Ranges of a box ascend by position, and the half list holds those
  /// after the box. Shift s of a list stands for the image of the sources at x_j + shifts[s]; its
  /// displacement is (x_i - x_j) - shifts[s], in T. Along a minimum image axis of the grid there is one
  /// cell, and the image is chosen for each pair.
  template <class T, int Dim>
  struct cell_view
  {
    static constexpr int padding = 16; ///< values that may be read behind every column

    cell_grid<T, Dim> grid; ///< the grid whose cells these are

    soa<T const, Dim> target_x; ///< the positions of the targets, by their order
    soa<T const, Dim> source_x; ///< the positions of the sources, by theirs
    /// position -> the caller's index
    std::span<index_type const> target_order;
    std::span<index_type const> source_order; ///< the same for the sources
    boxes targets;                            ///< box b holds the targets of one cell
    boxes sources;                            ///< box b holds the sources of the same cell

    /// targets and sources are the same points
    bool one_set = true;
    interaction_list full; ///< each box and all that it meets
    /// one set only
    interaction_list half;
  };

  /// What has a view() of its cells, such as a cell_list.
  template <class C>
  concept has_cell_view = requires(C const& cells)
  {
    cells.view().grid;
    cells.view().target_x;
    cells.view().full;
  };
}
