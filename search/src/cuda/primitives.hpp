#pragma once

#include <nearfield/cuda/stream_array.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// Scans, sorts and selections of the search, through CUB. They know no points, and so are compiled once.

namespace nearfield::detail
{
  /// What the numbers of points in cells tell.
  struct cell_table
  {
    /// the points before cell c, for c = 0 ... cells
    std::uint32_t* starts;
    /// where each item begins, and the end of the last one; the first cell of its group
    std::uint32_t* item_begin;
    std::uint32_t* item_cell;
    /// memory of the host, which is told the number of items, plus 1
    std::uint32_t volatile* items_for_host;
  };

  /// `cells` is a multiple of `group`.
  void scan_cells(std::uint32_t const* counts, cell_table const& to, std::size_t cells,
                  std::uint32_t group, cuda_stream stream);

  /// offsets[i] = counts[0] + ... + counts[i - 1], for i = 0 ... n.
  void scan_counts(std::uint32_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream);
  void scan_counts(std::uint64_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream);

  /// Stable, by the lowest `bits` bits of the keys. The second array of each pair is scratch; the sorted ones
  /// are swapped into the first.
  void sort_by_key(stream_array<std::uint64_t>& keys, stream_array<std::uint32_t>& values,
                   int bits);
  void sort_keys(stream_array<std::uint64_t>& keys, int bits);

  /// The first points of items of points sorted by key: places[...] ascending, and their number in *count
  /// (device memory).
  void select_items(std::uint64_t const* keys, std::uint32_t* places, std::uint32_t* count,
                    std::size_t n, std::uint32_t group, cuda_stream stream);
}
