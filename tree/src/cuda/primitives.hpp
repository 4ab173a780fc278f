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
    /// the first position of each item, then the end of the last one; and the cell of that point, then ~0
    std::uint32_t* item_begin;
    std::uint32_t* item_cell;
    /// in host or device memory: receives the number of items, plus 1
    std::uint32_t volatile* n_items;
    /// of a batch: the system of each item, from that of each position; otherwise null
    std::uint32_t* item_system = nullptr;
    std::uint32_t const* system_of_position = nullptr;
  };

  /// The numbers of points in cells.
  struct cell_counts
  {
    std::uint32_t const* counts;
    std::uint32_t cells, group;
    /// the group in device memory, which may be any; null: `group`, and `cells` is a multiple of it
    std::uint32_t const* group_found = nullptr;
  };

  /// What scan_cells() needs; kept from one call to the next.
  struct scan_memory
  {
    device_array<std::uint64_t> before;
    device_array<char> scratch;
  };

  /// Fills the table.
  void scan_cells(cell_counts const& of, cell_table const& to, scan_memory& memory,
                  cuda_stream stream);

  /// Sorts stably by the lowest `bits` bits of the keys. The arrays stay where they are. `what` starts messages.
  void sort_by_key(device_array<std::uint64_t>& keys, device_array<std::uint32_t>& values, int bits,
                   char const* what);

  /// For points sorted by key: writes the first point of each item to places[...], ascending, and their
  /// number to *count (device memory).
  void select_items(std::uint64_t const* keys, std::uint32_t* places, std::uint32_t* count,
                    std::size_t n, std::uint32_t group, cuda_stream stream);
}
