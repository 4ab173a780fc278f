#pragma once

#include "../part_lists.hpp"
#include "launch.cuh"
#include "tree_lists.cuh"

#include <array>
#include <cstddef>
#include <cstdint>

/// \file
/// The lists of a part of a tree, from the rows of its leaves: what tree_lists.cuh makes of a whole one, by chunk.

namespace nearfield::detail
{
  /// Whether leaf b touches a box in which another part may have leaves.
  template <int Dim>
  struct is_at_border
  {
    leaf_cell<Dim> const* cells;
    curve_range const* ranges; ///< of parts, as gpu_points::find_border()
    std::uint32_t n_ranges, own;
    int key_level;
    bool wraps[Dim];

    __device__ bool operator()(std::uint32_t b) const
    {
      leaf_cell<Dim> const cell = cells[b];
      std::uint32_t const last = (1u << cell.level) - 1;
      std::array<std::uint32_t, Dim> low, high;
      bool at_wrap = false;
      for (int d = 0; d < Dim; ++d)
      {
        std::uint32_t const at = cell.index[d];
        at_wrap |= wraps[d] && (at == 0 || at == last);
        low[d] = at == 0 ? 0 : at - 1;
        high[d] = min(at + 1, last);
      }
      // keys ascend along each axis
      bool const is_inside = keys_of<Dim>(low, cell.level, key_level).begin >= ranges[own].begin &&
                             keys_of<Dim>(high, cell.level, key_level).end <= ranges[own].end;
      return (at_wrap || !is_inside) && touches_others(cell);
    }

  private:
    __device__ bool touches_others(leaf_cell<Dim> const& cell) const
    {
      for (int step = 0; step < cells_around<Dim>; ++step)
      {
        std::array<std::uint32_t, Dim> at;
        int image = 0;
        if (find_cell_around<Dim>(cell, step, wraps, at, image) &&
            is_of_others(keys_of<Dim>(at, cell.level, key_level)))
          return true;
      }
      return false;
    }

    /// Whether the range of another part has some of these keys.
    __device__ bool is_of_others(curve_range const& keys) const
    {
      std::uint32_t n =
          count_before(n_ranges, [&](std::uint32_t r) { return ranges[r].begin < keys.end; });
      if (n == own + 1) --n;
      return n > 0 && ranges[n - 1].end > keys.begin;
    }
  };

  template <int Dim>
  __global__ void take_border(leaf_cell<Dim> const* cells, std::uint64_t const* keys,
                              index_type const* offsets, index_type const* border, std::uint32_t n,
                              border_leaf<Dim>* to)
  {
    std::uint32_t const i = thread_index();
    if (i >= n) return;
    index_type const b = border[i];
    to[i] = {cells[b], keys[b], b, offsets[b + 1] - offsets[b]};
  }

  static __global__ void take_values(std::uint64_t const* from, index_type const* places,
                                     std::uint32_t n, std::uint64_t* to)
  {
    std::uint32_t const i = thread_index();
    if (i < n) to[i] = from[places[i]];
  }

  /// Known leaves by chunk.
  struct chunk_view
  {
    std::uint32_t first[most_chunks_of_a_part + 1]; ///< the first leaves, then the end
    int own;

    [[nodiscard]] __device__ bool is_own(std::uint32_t leaf) const
    {
      return leaf >= first[own] && leaf < first[own + 1];
    }
    [[nodiscard]] __device__ int of(std::uint32_t leaf) const
    {
      int chunk = 0;
      while (first[chunk + 1] <= leaf) ++chunk;
      return chunk;
    }
    [[nodiscard]] __device__ std::uint32_t n_own() const { return first[own + 1] - first[own]; }
  };

  /// The row of each leaf of the part.
  template <int Dim>
  struct row_view
  {
    leaf_view<Dim> leaves;
    chunk_view chunks;
    std::uint64_t const* offsets; ///< by known leaf
    index_type const* rows;
    std::uint64_t const* chunks_met; ///< by own leaf
    bool is_mutual;

    [[nodiscard]] __device__ std::uint32_t count(std::uint32_t leaf) const
    {
      return leaves.sources[leaf + 1] - leaves.sources[leaf];
    }
    /// Whether the list, inner or border, has a leaf with what it meets, or a part of that.
    [[nodiscard]] __device__ bool has_whole(bool of_border, std::uint32_t own_leaf) const
    {
      return !is_mutual && (chunks_met[own_leaf] != 0) == of_border;
    }
    /// Whether it has an element of the row of leaf b.
    [[nodiscard]] __device__ bool has(bool of_border, std::uint32_t b, std::uint32_t element) const
    {
      if (!is_mutual) return has_whole(of_border, b - chunks.first[chunks.own]);
      bool const is_own = chunks.is_own(leaves.leaf_of(element));
      return of_border ? !is_own : is_own && leaves.is_half(b, element);
    }
    /// The points of a leaf in their set, 0 (own) or 1.
    [[nodiscard]] __device__ source_range points(std::uint32_t leaf) const
    {
      index_type const first = leaves.sources[chunks.first[chunks.own]],
                       last = leaves.sources[chunks.first[chunks.own + 1]];
      bool const is_own = chunks.is_own(leaf);
      index_type const before = is_own ? first : leaf < chunks.first[chunks.own] ? 0 : last - first;
      return {leaves.sources[leaf] - before, leaves.sources[leaf + 1] - before,
              static_cast<std::uint16_t>(!is_own), 0};
    }
    /// Whether element i of a row, which the list has, begins a range.
    [[nodiscard]] __device__ bool begins(bool of_border, std::uint32_t b, index_type const* row,
                                         std::uint32_t i) const
    {
      if (i == 0 || !has(of_border, b, row[i - 1])) return true;
      source_range const before = points(leaves.leaf_of(row[i - 1])),
                         here = points(leaves.leaf_of(row[i]));
      return before.set != here.set || before.end != here.begin ||
             leaves.shift_in(row[i - 1] ^ row[i]) != 0;
    }
  };

  /// The offsets of known leaves, from those of own leaves and of others. Leaves of others have no targets here.
  static __global__ void unite_offsets(std::uint32_t n_known, chunk_view const chunks,
                                       index_type const* own, index_type const* others,
                                       index_type* targets, index_type* sources)
  {
    std::uint32_t const b = thread_index();
    if (b > n_known) return;
    std::uint32_t const first = chunks.first[chunks.own], last = chunks.first[chunks.own + 1];
    std::uint32_t const own_before = min(max(b, first), last) - first;
    targets[b] = own[own_before];
    sources[b] = own[own_before] + others[b - own_before];
  }

  /// The points of a known leaf, if it is own or met.
  struct points_left
  {
    index_type const* sources;
    std::uint8_t const* is_met;   ///< of others
    std::uint32_t first, last, n; ///< own leaves; known ones

    __device__ std::uint64_t operator()(std::uint32_t b) const
    {
      bool const is_own = b >= first && b < last;
      if (b >= n || !(is_own || is_met[b < first ? b : b - (last - first)])) return 0;
      return sources[b + 1] - sources[b];
    }
  };

  static __global__ void narrow(std::uint64_t const* from, std::uint32_t n, index_type* to)
  {
    std::uint32_t const i = thread_index();
    if (i < n) to[i] = static_cast<index_type>(from[i]);
  }

  /// A warp for each leaf of the part.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      look_at_rows(row_view<Dim> const all, std::uint64_t* chunks_met, std::uint8_t* is_met,
                   unsigned long long* pairs)
  {
    __shared__ unsigned long long of_warp[block_threads / 32];
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp;
    unsigned long long sources = 0, met = 0;
    if (own < all.chunks.n_own())
    {
      std::uint32_t const b = all.chunks.first[all.chunks.own] + own;
      index_type const* const row = all.rows + all.offsets[b];
      auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
      unsigned long long chunks = 0;
      for (std::uint32_t i = lane; i < n; i += 32)
      {
        std::uint32_t const c = all.leaves.leaf_of(row[i]);
        sources += all.count(c);
        if (all.chunks.is_own(c)) continue;
        chunks |= 1ull << all.chunks.of(c);
        is_met[c < b ? c : c - all.chunks.n_own()] = 1;
      }
      for (int s = 16; s > 0; s /= 2)
      {
        sources += __shfl_xor_sync(all_lanes, sources, s);
        chunks |= __shfl_xor_sync(all_lanes, chunks, s);
      }
      std::uint32_t const n_targets = all.count(b);
      sources += n_targets;
      met = n_targets * (sources - 1);
      if (lane == 0) chunks_met[own] = chunks;
    }
    if (lane == 0) of_warp[warp] = met;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (std::uint32_t w = 1; w < block_threads / 32; ++w) met += of_warp[w];
    if (met > 0) atomicAdd(pairs, met);
  }

  /// What is counted of the lists: inner, border.
  struct part_counts
  {
    unsigned long long pairs[2];
    std::uint32_t leaves_of_size[2][32]; ///< leaves that a list has, as in device_leaves
  };

  /// The ranges of each leaf in the inner list << 32, and in the border list. A warp for each.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      count_part(row_view<Dim> const all, std::uint64_t* counts, part_counts* found)
  {
    __shared__ part_counts of_block;
    for (std::uint32_t w = threadIdx.x; w < sizeof(part_counts) / 4; w += block_threads)
      reinterpret_cast<std::uint32_t*>(&of_block)[w] = 0;
    __syncthreads();
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp;
    if (own < all.chunks.n_own())
    {
      std::uint32_t const b = all.chunks.first[all.chunks.own] + own;
      index_type const* const row = all.rows + all.offsets[b];
      auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
      std::uint32_t ranges[2] = {0, 0};
      unsigned long long sources[2] = {0, 0};
      for (std::uint32_t i = lane; i < n; i += 32)
        for (int of_border = 0; of_border < 2; ++of_border)
          if (all.has(of_border, b, row[i]))
          {
            ranges[of_border] += all.begins(of_border, b, row, i);
            sources[of_border] += all.count(all.leaves.leaf_of(row[i]));
          }
      std::uint64_t count = 0;
      for (int of_border = 0; of_border < 2; ++of_border)
      {
        count = count << 32 | __reduce_add_sync(all_lanes, ranges[of_border]);
        for (int s = 16; s > 0; s /= 2)
          sources[of_border] += __shfl_xor_sync(all_lanes, sources[of_border], s);
      }
      if (lane == 0)
      {
        counts[own] = count;
        unsigned long long const points = all.count(b);
        int const size = 31 - __clz(static_cast<int>(points));
        for (int of_border = 0; of_border < 2; ++of_border)
        {
          bool const has_own = all.has_whole(of_border, own) || (all.is_mutual && of_border == 0);
          unsigned long long pairs = points * sources[of_border];
          if (all.is_mutual && of_border == 0) pairs *= 2;
          if (has_own) pairs += points * (points - 1);
          if (!has_own && pairs == 0) continue;
          atomicAdd(of_block.pairs + of_border, pairs);
          atomicAdd(of_block.leaves_of_size[of_border] + size, 1u);
        }
      }
    }
    __syncthreads();
    if (threadIdx.x < 2 && of_block.pairs[threadIdx.x] > 0)
      atomicAdd(found->pairs + threadIdx.x, of_block.pairs[threadIdx.x]);
    if (threadIdx.x < 64)
    {
      int const of_border = threadIdx.x / 32, k = threadIdx.x % 32;
      std::uint32_t const value = of_block.leaves_of_size[of_border][k];
      if (value > 0) atomicAdd(found->leaves_of_size[of_border] + k, value);
    }
  }

  /// A list as it is written.
  struct part_columns
  {
    index_type* offsets;
    source_range *own, *ranges;
  };

  /// `before` holds the counts of all earlier leaves. A warp for each, and one for the end.
  template <int Dim>
  __global__ void __launch_bounds__(block_threads)
      write_part(row_view<Dim> const all, std::uint64_t const* before, bool of_border,
                 part_columns const to)
  {
    std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp, n_own = all.chunks.n_own();
    if (own > n_own) return;
    auto const at = static_cast<index_type>(of_border ? before[own] : before[own] >> 32);
    if (lane == 0) to.offsets[own] = at;
    if (own == n_own) return;

    std::uint32_t const b = all.chunks.first[all.chunks.own] + own;
    if (lane == 0)
    {
      bool const has_own = all.has_whole(of_border, own) || (all.is_mutual && !of_border);
      to.own[own] = has_own ? all.points(b) : source_range{0, 0, 0, 0};
    }
    index_type const* const row = all.rows + all.offsets[b];
    auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
    std::uint32_t first = 0; // ranges before this round
    for (std::uint32_t i = lane; i - lane < n; i += 32)
    {
      bool const is_there = i < n && all.has(of_border, b, row[i]);
      bool const begins = is_there && all.begins(of_border, b, row, i);
      std::uint32_t const beginnings = __ballot_sync(all_lanes, begins);
      if (is_there)
      {
        std::uint32_t const r = at + first + __popc(beginnings & (~0u >> (31 - lane))) - 1;
        source_range const points = all.points(all.leaves.leaf_of(row[i]));
        if (begins)
        {
          to.ranges[r].begin = points.begin;
          to.ranges[r].set = points.set;
          to.ranges[r].shift = all.leaves.shift_in(row[i]);
        }
        if (i + 1 == n || !all.has(of_border, b, row[i + 1]) ||
            all.begins(of_border, b, row, i + 1))
          to.ranges[r].end = points.end;
      }
      first += __popc(beginnings);
    }
  }
}
