#pragma once

#include "starts.cuh"

#include <nearfield/cuda/device_array.hpp>

#include <cstdint>

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
    device_array<std::uint32_t> item_begin;
    /// the first cell of the group of each item: item_cell with a table, item_wide_cell without one
    device_array<std::uint32_t> item_cell;
    device_array<std::uint64_t> item_wide_cell;
    /// of a batch, the system of each item
    device_array<std::uint32_t> item_system;
    std::uint32_t n = 0, n_items = 0;

    /// the records before rank_points; empty after it
    device_array<uint4> unranked;
    device_array<cell_rank> ranks;

    [[nodiscard]] cell_starts starts() const { return {table.data(), keys.data(), n}; }

    /// The records for uses that do not depend on the order inside cells.
    [[nodiscard]] uint4 const* any_records() const
    {
      return unranked.size() > 0 ? unranked.data() : records.data();
    }
  };
}
