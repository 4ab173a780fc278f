#pragma once

#include "images.hpp"
#include "interaction_lists.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// A line of boxes along the last axis: all that agree in the other indices.
  struct cell_row
  {
    std::uint64_t key;
    index_type first_box;
  };

  /// The rows that hold boxes, then one with the largest key that begins after all boxes, and the column of each box in
  /// its row.
  struct cell_rows
  {
    std::vector<cell_row> rows;
    std::vector<std::uint32_t> columns;
  };

  /// Of boxes with these ascending keys.
  template <class T, int Dim>
  void find_rows(executor& on, cell_grid<T, Dim> const& grid, std::span<std::uint64_t const> keys,
                 cell_rows& found);

  /// The interaction lists of the boxes [first, last): a target box meets every other one within reach, once in each image
  /// that is. Rows of boxes come axis by axis, from the last image to the first one, and by ascending index in each. Uses
  /// cells, reach and wraps of the grid.
  template <class T, int Dim>
  void list_cells(cell_grid<T, Dim> const& grid, image_numbers<Dim> const& images,
                  cell_rows const& boxes_of, index_type first, index_type last, list_writer& lists);
}
