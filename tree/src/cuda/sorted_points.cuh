#pragma once

#include "starts.cuh"

#include <nearfield/cuda/device_array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace nearfield::detail
{
  /// The cell of a point, and its rank in it, in the order of the atomics.
  struct cell_rank
  {
    std::uint32_t cell, rank;
  };

  /// One set of points, sorted by cell.
  struct sorted_points
  {
    device_array<uint4> records;
    /// position -> index
    device_array<std::uint32_t> order;
    device_array<std::uint32_t> table;
    device_array<std::uint64_t> keys;
    /// views of `items`
    std::span<std::uint32_t> item_begin;
    /// the cell of the first point of each item, and the largest number last: item_cell with a table, item_wide_cell
    /// without one
    std::span<std::uint32_t> item_cell;
    device_array<std::uint64_t> item_wide_cell;
    /// of a batch, the system of each item
    std::span<std::uint32_t> item_system;
    device_array<std::uint32_t> items;
    std::uint32_t n = 0, n_items = 0;
    /// the number of items plus 1, where only the device knows it; otherwise empty
    device_array<std::uint32_t> items_found;

    /// the records before rank_points; empty after it
    device_array<uint4> unranked;
    device_array<cell_rank> ranks;

    /// Memory for at most so many items, which have cells in a table or not, and systems or not.
    void make_items(std::uint32_t most, bool in_table, bool in_systems, cuda_stream stream)
    {
      std::size_t const begin = most + std::size_t(1), cell = in_table ? begin : 0;
      items = device_array<std::uint32_t>(begin + cell + (in_systems ? most : 0), stream,
                                          "cuda_cell_list: items");
      item_begin = {items.data(), begin};
      item_cell = {cell > 0 ? items.data() + begin : nullptr, cell};
      if (in_systems) item_system = {items.data() + begin + cell, most};
    }
    [[nodiscard]] cell_starts starts() const { return {table.data(), keys.data(), n}; }

    /// The records for uses that do not depend on the order inside cells.
    [[nodiscard]] uint4 const* any_records() const
    {
      return unranked.size() > 0 ? unranked.data() : records.data();
    }
  };
}
