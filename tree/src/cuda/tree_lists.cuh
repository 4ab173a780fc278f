#pragma once

#include "../images.hpp"
#include "../keys.hpp"
#include "launch.cuh"
#include "scratch.cuh"
#include "trace.hpp"
#include "tree_on_gpu.cuh"

#include <cstdint>

/// \file
/// Who meets whom. A leaf looks for leaves of its own level or coarser ones, by searching the cells around it. A
/// finer leaf reports itself to the coarser one that it found. So rows are filled by atomics, and sorted afterwards.
/// With periods an element of a row is an image of a leaf: the leaf and, in its last bits, the shift.

namespace nearfield::detail
{
  /// Threads that look for the neighbours of one leaf, one for each cell around it.
  template <int Dim>
  inline constexpr int lanes_of_leaf = Dim == 3 ? 32 : 16;

  inline constexpr std::uint32_t no_leaf = ~0u;
  /// Of an element of a row, if there are periods.
  inline constexpr int bits_of_shift = 5;
  static_assert(n_images <= 1 << bits_of_shift);

  /// A column as what exclusive_sum() adds up.
  template <class T>
  struct column_load
  {
    T const* column;

    __device__ std::uint64_t operator()(std::uint32_t i) const { return column[i]; }
  };

  /// The leaves as the kernels of lists take them.
  template <int Dim>
  struct leaf_view
  {
    std::uint64_t const* keys;
    leaf_cell<Dim> const* cells;
    index_type const *targets, *sources; ///< offsets
    std::uint32_t capacity;
    key_layout layout;
    list_report* report;
    bool wraps[Dim];
    int shift_bits = 0;

    leaf_view(std::uint64_t const* keys_, leaf_cell<Dim> const* cells_, index_type const* targets_,
              index_type const* sources_, std::uint32_t capacity_, key_layout const& layout_,
              list_report* report_, std::array<double, Dim> const& period)
        : keys(keys_), cells(cells_), targets(targets_), sources(sources_), capacity(capacity_),
          layout(layout_), report(report_), shift_bits(any_period(period) ? bits_of_shift : 0)
    {
      for (int d = 0; d < Dim; ++d) wraps[d] = period[d] > 0;
    }

    /// An element of a row.
    [[nodiscard]] __device__ std::uint32_t element(std::uint32_t leaf, std::uint16_t shift) const
    {
      return leaf << shift_bits | shift;
    }
    [[nodiscard]] __device__ std::uint32_t leaf_of(std::uint32_t element) const
    {
      return element >> shift_bits;
    }
    [[nodiscard]] __device__ std::uint16_t shift_in(std::uint32_t element) const
    {
      return static_cast<std::uint16_t>(element & ((1u << shift_bits) - 1));
    }
    /// Whether leaf b has an element of its row in the half list, too.
    [[nodiscard]] __device__ bool is_half(std::uint32_t b, std::uint32_t element) const
    {
      std::uint32_t const c = leaf_of(element);
      return c > b || (c == b && is_in_half(shift_in(element)));
    }

    [[nodiscard]] __device__ std::uint32_t size() const { return min(report->leaves, capacity); }
    [[nodiscard]] __device__ bool has_targets(std::uint32_t b) const
    {
      return targets[b] != targets[b + 1];
    }
    [[nodiscard]] __device__ bool has_sources(std::uint32_t b) const
    {
      return sources[b] != sources[b + 1];
    }
    [[nodiscard]] __device__ std::uint64_t key_of(std::array<std::uint32_t, Dim> const& index,
                                                  int level) const
    {
      return layout.order == leaf_order::morton
                 ? encode<leaf_order::morton, Dim>(index, level) << Dim * (layout.level - level)
                 : encode<leaf_order::row_major, Dim>(index, level);
    }

    /// The leaf as large as leaf b, or larger, that holds the cell number `step` around it, as an element of a row;
    /// no_leaf if there is none.
    [[nodiscard]] __device__ std::uint32_t around(std::uint32_t b, int step) const
    {
      if (step >= cells_around<Dim> || step == cells_around<Dim> / 2) return no_leaf;
      leaf_cell<Dim> const cell = cells[b];
      std::array<std::uint32_t, Dim> index;
      int image = 0;
      if (!find_cell_around<Dim>(cell, step, wraps, index, image)) return no_leaf;

      std::uint64_t const key = key_of(index, cell.level);
      // the first leaf beyond the key
      std::uint32_t const after =
          count_before(size(), [&](std::uint32_t b) { return keys[b] <= key; });
      if (after == 0) return no_leaf;
      int const level = cells[after - 1].level;
      bool const holds = (keys[after - 1] ^ key) >> Dim * (layout.level - level) == 0;
      return holds && level <= cell.level ? element(after - 1, detail::shift_of(image)) : no_leaf;
    }
  };

  /// The bits of the lanes that work on the same leaf as this one.
  template <int Dim>
  __device__ std::uint32_t lanes_beside()
  {
    if constexpr (lanes_of_leaf<Dim> == 32) return all_lanes;
    return 0xffffu << (threadIdx.x & 16);
  }

  /// found[b * cells_around + step]: what a leaf finds around it, each once; and the lengths of the rows.
  template <int Dim>
  __global__ void find_neighbours(leaf_view<Dim> const leaves, std::uint32_t* found,
                                  std::uint32_t* lengths)
  {
    constexpr int lanes = lanes_of_leaf<Dim>;
    std::uint32_t const b = (blockIdx.x * std::size_t(block_threads) + threadIdx.x) / lanes;
    int const lane = threadIdx.x % lanes;
    bool const exists = b < leaves.size();
    std::uint32_t c = exists ? leaves.around(b, lane) : no_leaf;
    // a larger leaf holds several of the cells
    std::uint32_t const beside = lanes_beside<Dim>();
    std::uint32_t const same = __match_any_sync(all_lanes, c) & beside;
    if (__ffs(static_cast<int>(same)) - 1 != static_cast<int>(threadIdx.x % 32)) c = no_leaf;
    std::uint32_t const leaf = leaves.leaf_of(c);
    bool const is_mine = c != no_leaf && leaves.has_targets(b) && leaves.has_sources(leaf);
    std::uint32_t const mine = __ballot_sync(all_lanes, is_mine) & beside;
    if (!exists) return;
    if (lane < cells_around<Dim>) found[std::size_t(b) * cells_around<Dim> + lane] = c;
    if (lane == 0 && mine != 0) atomicAdd(lengths + b, __popc(mine));
    if (c != no_leaf && leaves.cells[leaf].level < leaves.cells[b].level &&
        leaves.has_targets(leaf) && leaves.has_sources(b))
      atomicAdd(lengths + leaf, 1u);
  }

  /// The rows, in the order of the atomics. `filled` is zero.
  template <int Dim>
  __global__ void fill_rows(leaf_view<Dim> const leaves, std::uint32_t const* found,
                            std::uint64_t const* offsets, std::uint32_t* filled,
                            std::uint64_t capacity, index_type* rows)
  {
    constexpr int lanes = lanes_of_leaf<Dim>;
    std::uint32_t const b = (blockIdx.x * std::size_t(block_threads) + threadIdx.x) / lanes;
    int const lane = threadIdx.x % lanes;
    std::uint32_t const n = leaves.size();
    if (b == 0 && lane == 0) leaves.report->neighbours = offsets[n];
    bool const exists = b < n && offsets[n] <= capacity;
    std::uint32_t const c = exists && lane < cells_around<Dim>
                                ? found[std::size_t(b) * cells_around<Dim> + lane]
                                : no_leaf;
    std::uint32_t const leaf = leaves.leaf_of(c);
    bool const is_mine = c != no_leaf && leaves.has_targets(b) && leaves.has_sources(leaf);
    std::uint32_t const mine = __ballot_sync(all_lanes, is_mine) & lanes_beside<Dim>();
    std::uint32_t begin = 0;
    if (lane == 0 && mine != 0) begin = atomicAdd(filled + b, __popc(mine));
    begin = __shfl_sync(all_lanes, begin, 0, lanes);
    std::uint32_t const before = mine & ((1u << threadIdx.x % 32) - 1);
    if (is_mine) rows[offsets[b] + begin + __popc(before)] = c;
    if (c != no_leaf && leaves.cells[leaf].level < leaves.cells[b].level &&
        leaves.has_targets(leaf) && leaves.has_sources(b))
      rows[offsets[leaf] + atomicAdd(filled + leaf, 1u)] =
          leaves.element(b, opposite(leaves.shift_in(c)));
  }

  /// The most neighbours of a row that one warp sorts.
  inline constexpr std::uint32_t short_row = 192;

  /// Sorts the short rows, a warp each, and lists the others.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      sort_short_rows(leaf_view<Dim> const leaves, std::uint64_t const* offsets,
                      std::uint64_t capacity, index_type* rows, std::uint32_t* long_rows)
  {
    __shared__ index_type memory[block_threads / 32][short_row];
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const b = blockIdx.x * (block_threads / 32) + warp, n_leaves = leaves.size();
    if (b >= n_leaves || offsets[n_leaves] > capacity) return;
    index_type* const row = rows + offsets[b];
    auto const n = static_cast<std::uint32_t>(offsets[b + 1] - offsets[b]);
    if (n > short_row)
    {
      if (lane == 0) long_rows[atomicAdd(&leaves.report->long_rows, 1u)] = b;
      return;
    }
    index_type* const unsorted = memory[warp];
    for (std::uint32_t i = lane; i < n; i += 32) unsorted[i] = row[i];
    __syncwarp();
    for (std::uint32_t i = lane; i < n; i += 32)
    {
      index_type const c = unsorted[i];
      std::uint32_t place = 0;
      for (std::uint32_t j = 0; j < n; ++j) place += unsorted[j] < c;
      row[place] = c;
    }
  }

  /// Sorts the other rows, a block each, by a bitonic network whose comparisons all ascend: what lies beyond the end
  /// counts as infinite, and never moves. A near field gives such a row to one block too, and does more work on it.
  static __global__ void __launch_bounds__(1024)
      sort_long_rows(list_report const* report, std::uint32_t const* long_rows,
                     std::uint64_t const* offsets, index_type* rows)
  {
    for (std::uint32_t r = blockIdx.x; r < report->long_rows; r += gridDim.x)
    {
      std::uint32_t const b = long_rows[r];
      index_type* const row = rows + offsets[b];
      auto const n = static_cast<std::uint32_t>(offsets[b + 1] - offsets[b]);
      for (std::uint32_t run = 2; run < 2 * n; run *= 2)
        for (std::uint32_t stride = run / 2; stride > 0; stride /= 2)
        {
          // the first step of a run meets it with its mirror image
          bool const mirrors = stride == run / 2;
          for (std::uint32_t t = threadIdx.x;; t += blockDim.x)
          {
            std::uint32_t const low = t / stride * 2 * stride + t % stride;
            if (low >= n) break;
            std::uint32_t const high =
                mirrors ? t / stride * run + run - 1 - t % stride : low + stride;
            if (high < n && row[high] < row[low])
            {
              index_type const other = row[low];
              row[low] = row[high];
              row[high] = other;
            }
          }
          __syncthreads();
        }
    }
  }

  inline unsigned blocks_of_warps(std::size_t warps)
  {
    return blocks_for(warps * 32, block_threads);
  }

  /// The rows of as many leaves as the view has room for, and their offsets, one more. room(): the most elements that
  /// the rows get, asked for when the offsets are in the stream.
  template <int Dim, class Room>
  device_array<index_type> make_rows(leaf_view<Dim> const& leaves, std::uint64_t* offsets,
                                     cuda_stream stream, char const* what, Room const& room)
  {
    std::size_t const n = leaves.capacity;
    // lengths of rows, then what is filled of them
    device_array<std::uint32_t> lengths(2 * (n + 1), stream, what);
    device_clear(lengths.data(), 2 * (n + 1) * sizeof(std::uint32_t), stream);
    device_array<std::uint32_t> found(n * cells_around<Dim>, stream, what);
    unsigned const blocks = blocks_for(n * lanes_of_leaf<Dim>, block_threads);
    find_neighbours<Dim>
        <<<blocks, block_threads, 0, stream>>>(leaves, found.data(), lengths.data());
    check_cuda(cudaGetLastError(), what);
    exclusive_sum(column_load<std::uint32_t>{lengths.data()}, offsets,
                  static_cast<std::uint32_t>(n + 1), stream, what);
    std::uint64_t const capacity = room();
    device_array<index_type> rows(capacity, stream, what);
    fill_rows<Dim><<<blocks, block_threads, 0, stream>>>(
        leaves, found.data(), offsets, lengths.data() + n + 1, capacity, rows.data());
    check_cuda(cudaGetLastError(), what);
    end_stage("neighbours", stream);

    // `found` has served: the long rows
    sort_short_rows<Dim><<<blocks_of_warps(n), block_threads, 0, stream>>>(
        leaves, offsets, capacity, rows.data(), found.data());
    sort_long_rows<<<multiprocessors(), 1024, 0, stream>>>(leaves.report, found.data(), offsets,
                                                           rows.data());
    check_cuda(cudaGetLastError(), what);
    end_stage("rows", stream);
    return rows;
  }

  /// Whether element i of a row begins a range: its sources do not follow those of the element before it, or are in
  /// another image.
  template <int Dim>
  __device__ bool begins_range(leaf_view<Dim> const& leaves, index_type const* row, std::uint32_t i)
  {
    return i == 0 || leaves.shift_in(row[i - 1] ^ row[i]) != 0 ||
           leaves.sources[leaves.leaf_of(row[i - 1]) + 1] != leaves.sources[leaves.leaf_of(row[i])];
  }

  /// The ranges of each row << 32, in the full and, in the lower half, in the half list; and the number of pairs.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      count_ranges(leaf_view<Dim> const leaves, std::uint64_t const* offsets,
                   std::uint64_t capacity, index_type const* rows, std::uint64_t* counts)
  {
    __shared__ unsigned long long pairs[block_threads / 32];
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const b = blockIdx.x * (block_threads / 32) + warp, n_leaves = leaves.size();
    unsigned long long sources = 0;
    if (b < n_leaves && offsets[n_leaves] <= capacity)
    {
      index_type const* const row = rows + offsets[b];
      auto const n = static_cast<std::uint32_t>(offsets[b + 1] - offsets[b]);
      std::uint32_t full = 0, half = 0;
      for (std::uint32_t i = lane; i < n; i += 32)
      {
        bool const begins = begins_range(leaves, row, i);
        full += begins;
        index_type const c = leaves.leaf_of(row[i]);
        half += begins && leaves.is_half(b, row[i]);
        sources += leaves.sources[c + 1] - leaves.sources[c];
      }
      full = __reduce_add_sync(all_lanes, full);
      half = __reduce_add_sync(all_lanes, half);
      for (int s = 16; s > 0; s /= 2) sources += __shfl_xor_sync(all_lanes, sources, s);
      sources += leaves.sources[b + 1] - leaves.sources[b];
      sources *= leaves.targets[b + 1] - leaves.targets[b];
      if (lane == 0) counts[b] = static_cast<std::uint64_t>(full) << 32 | half;
    }
    if (lane == 0) pairs[warp] = sources;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (std::uint32_t w = 1; w < block_threads / 32; ++w) sources += pairs[w];
    if (sources > 0) atomicAdd(&leaves.report->pairs, sources);
  }

  /// The lists as they are written.
  struct list_columns
  {
    index_type *offsets, *half_offsets; ///< half: null for two sets
    source_range *ranges, *half_ranges;
    std::uint64_t capacity, half_capacity;
  };

  /// `before` holds the counts of all earlier rows.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      write_ranges(leaf_view<Dim> const leaves, std::uint64_t const* offsets,
                   std::uint64_t capacity, index_type const* rows, std::uint64_t const* before,
                   list_columns const to)
  {
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const b = blockIdx.x * (block_threads / 32) + warp, n_leaves = leaves.size();
    bool const ends = b == n_leaves; // the offset after the last row
    if (b > n_leaves || offsets[n_leaves] > capacity) return;
    std::uint64_t const at = before[b];
    if (lane == 0)
    {
      to.offsets[b] = static_cast<index_type>(at >> 32);
      if (to.half_offsets) to.half_offsets[b] = static_cast<index_type>(at);
      if (ends)
      {
        leaves.report->ranges = at >> 32;
        leaves.report->half_ranges = to.half_offsets ? static_cast<std::uint32_t>(at) : 0;
      }
    }
    std::uint64_t const all_ranges = before[n_leaves];
    bool const fits =
        all_ranges >> 32 <= to.capacity &&
        (!to.half_offsets || static_cast<std::uint32_t>(all_ranges) <= to.half_capacity);
    if (ends && lane == 0 && fits && leaves.report->leaves == n_leaves)
      leaves.report->usable = n_leaves;
    if (ends || !fits) return;

    index_type const* const row = rows + offsets[b];
    auto const n = static_cast<std::uint32_t>(offsets[b + 1] - offsets[b]);
    source_range* const full = to.ranges + (at >> 32);
    std::uint64_t const count = before[b + 1] - at;
    // those of the half list are the last ones
    auto const n_before_box =
        static_cast<std::uint32_t>((count >> 32) - static_cast<std::uint32_t>(count));
    source_range* const half = to.half_ranges + static_cast<std::uint32_t>(at);
    std::uint32_t first = 0; // ranges before this round
    for (std::uint32_t i = lane; i - lane < n; i += 32)
    {
      bool const begins = i < n && begins_range(leaves, row, i);
      std::uint32_t const beginnings = __ballot_sync(all_lanes, begins);
      if (i < n)
      {
        std::uint32_t const r = first + __popc(beginnings & (~0u >> (31 - lane))) - 1;
        bool const is_half = to.half_offsets && r >= n_before_box;
        index_type const c = leaves.leaf_of(row[i]);
        if (begins)
        {
          index_type const begin = leaves.sources[c];
          std::uint16_t const shift = leaves.shift_in(row[i]);
          full[r].begin = begin;
          full[r].set = 0;
          full[r].shift = shift;
          if (is_half)
          {
            half[r - n_before_box].begin = begin;
            half[r - n_before_box].set = 0;
            half[r - n_before_box].shift = shift;
          }
        }
        if (i + 1 == n || begins_range(leaves, row, i + 1))
        {
          index_type const end = leaves.sources[c + 1];
          full[r].end = end;
          if (is_half) half[r - n_before_box].end = end;
        }
      }
      first += __popc(beginnings);
    }
  }

  template <int Dim>
  __global__ void tell_host(tree_report<Dim> const* report, tree_report<Dim>* to_host)
  {
    *to_host = *report; // whose `done` is 0
    __threadfence_system();
    *static_cast<std::uint32_t volatile*>(&to_host->done) = 1;
  }
}
