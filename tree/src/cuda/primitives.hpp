#pragma once

#include <nearfield/cuda/device_array.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// The scan, the sort and the selection that make cells, through CUB. They do not depend on the type of points,
/// so they are compiled once.

namespace nearfield::detail
{
  /// What follows from the numbers of points in cells.
  struct cell_table
  {
    /// the number of points before cell c, for c = 0 ... cells
    std::uint32_t* starts;
    /// the first position of each item, then the end of the last one; and the first cell of the item's group
    std::uint32_t* item_begin;
    std::uint32_t* item_cell;
    /// in host memory: receives the number of items, plus 1
    std::uint32_t volatile* items_for_host;
  };

  /// Fills the table. `cells` is a multiple of `group`.
  void scan_cells(std::uint32_t const* counts, cell_table const& to, std::size_t cells,
                  std::uint32_t group, cuda_stream stream);

  /// Sorts stably by the lowest `bits` bits of the keys. The arrays stay where they are. `what` starts messages.
  void sort_by_key(device_array<std::uint64_t>& keys, device_array<std::uint32_t>& values, int bits,
                   char const* what);

  /// For points sorted by key: writes the first point of each item to places[...], ascending, and their
  /// number to *count (device memory).
  void select_items(std::uint64_t const* keys, std::uint32_t* places, std::uint32_t* count,
                    std::size_t n, std::uint32_t group, cuda_stream stream);
}
