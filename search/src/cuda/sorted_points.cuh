#pragma once

#include "build.cuh"
#include "primitives.hpp"
#include "trace.hpp"

#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  /// Whether a grid has a table of its cells; a larger grid finds cells by searching the keys of its points.
  inline bool has_table(double cells, std::size_t points)
  {
    return cells <= 4 * double(points) + (1 << 16) && cells < 0x1p31;
  }

  inline unsigned blocks_for(std::size_t threads, int block)
  {
    return static_cast<unsigned>((threads + block - 1) / block);
  }

  /// One set of points, sorted by cell.
  struct sorted_points
  {
    stream_array<uint4> records;
    /// position -> index
    stream_array<std::uint32_t> order;
    stream_array<std::uint32_t> table;
    stream_array<std::uint64_t> keys;
    stream_array<std::uint32_t> item_begin;
    /// the first cell of the group of each item: item_cell with a table, item_wide_cell without one
    stream_array<std::uint32_t> item_cell;
    stream_array<std::uint64_t> item_wide_cell;
    std::uint32_t n = 0, n_items = 0;

    /// the records before rank_points; empty after it
    stream_array<uint4> unranked;
    stream_array<cell_rank> ranks;

    [[nodiscard]] cell_starts starts() const { return {table.data(), keys.data(), n}; }

    /// Makes the order inside cells ascending, once.
    void rank(cuda_stream stream)
    {
      if (unranked.size() == 0) return;
      records = stream_array<uint4>(n, stream, "cuda_cell_list: records");
      order = stream_array<std::uint32_t>(n, stream, "cuda_cell_list: order");
      rank_points<<<blocks_for(n, build_threads), build_threads, 0, stream>>>(
          unranked.data(), ranks.data(), table.data(), n, records.data(), order.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: rank_points");
      unranked = {};
      ranks = {};
      end_stage("rank", stream);
    }
    /// The records for uses that do not depend on the order inside cells.
    [[nodiscard]] uint4 const* any_records() const
    {
      return unranked.size() > 0 ? unranked.data() : records.data();
    }
  };
}
