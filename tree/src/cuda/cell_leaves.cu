#include "cell_leaves.cuh"

#include "scratch.cuh"
#include "trace.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
    /// Whether a leaf begins at this cell of a table or, without one, at this position.
    struct begins_leaf
    {
      cell_starts targets;

      __device__ bool operator()(std::uint32_t k) const
      {
        if (targets.table) return targets.table[k] < targets.table[k + 1];
        return k == 0 || targets.keys[k - 1] != targets.keys[k];
      }
    };

    struct range_counts
    {
      std::uint32_t full, half;
    };

    /// The leaves as they are written.
    struct leaf_columns
    {
      cell_leaves_report* report;
      index_type* offsets;
      source_range* own;
      std::uint64_t* cells; ///< the key of each
      std::uint32_t* systems;
      range_counts* counts;
      index_type *range_offsets, *half_offsets;
      source_range *ranges, *half_ranges; ///< null while they are counted
    };

    /// The first target of leaf l, and its key.
    struct leaf_start
    {
      std::uint32_t position;
      std::uint64_t cell;

      __device__ leaf_start(cell_starts const& targets, std::uint32_t const* begins,
                            std::uint32_t l)
      {
        std::uint32_t const k = begins[l];
        position = targets.table ? targets.table[k] : k;
        cell = targets.table ? k : targets.keys[k];
      }
    };

    /// For the leaves below `most` that exist, and one beyond them.
    __global__ void place_leaves(cell_starts const targets, std::uint32_t const* begins,
                                 std::uint32_t most, device_cell_view const in,
                                 std::uint32_t const* system_of_target, leaf_columns const to)
    {
      std::uint32_t const l = thread_index(), n = to.report->leaves;
      int size = 32; // none
      if (l <= most) to.counts[l] = {};
      if (l == n) to.offsets[l] = targets.n;
      if (l < n)
      {
        leaf_start const leaf(targets, begins, l);
        std::uint32_t const end =
            l + 1 < n ? leaf_start(targets, begins, l + 1).position : targets.n;
        size = 31 - __clz(static_cast<int>(end - leaf.position));
        to.offsets[l] = leaf.position;
        to.cells[l] = leaf.cell;
        source_range own;
        own.begin = in.starts.first_of(leaf.cell);
        own.end = in.starts.first_of(leaf.cell + 1);
        to.own[l] = own;
        if (system_of_target) to.systems[l] = system_of_target[leaf.position];
      }
      std::uint32_t const same = __match_any_sync(all_lanes, size);
      if (size < 32 && __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % 32))
        atomicAdd(to.report->leaves_of_size + size, __popc(same));
    }

    /// Appends what is not empty of the two segments of each lane, lane after lane, to `to`, which may be null, and
    /// returns how many they are. Shifts begin at number `first`.
    __device__ std::uint32_t append(source_range* to, source_segment const& a,
                                    source_segment const& b, std::uint32_t first)
    {
      bool const has_a = a.begin < a.end, has_b = b.begin < b.end;
      std::uint32_t const of_a = __ballot_sync(all_lanes, has_a),
                          of_b = __ballot_sync(all_lanes, has_b);
      if (to)
      {
        std::uint32_t const before = (1u << threadIdx.x % 32) - 1;
        to += __popc(of_a & before) + __popc(of_b & before);
        auto const write = [&](source_range& range, source_segment const& segment)
        {
          range.begin = segment.begin;
          range.end = segment.end;
          std::uint32_t const shift = segment.shift == 0 ? 0 : first + segment.shift;
          range.set = static_cast<std::uint16_t>(shift >> 16);
          range.shift = static_cast<std::uint16_t>(shift);
        };
        if (has_a) write(*to++, a);
        if (has_b) write(*to, b);
      }
      return __popc(of_a) + __popc(of_b);
    }

    /// Counts or writes the ranges of each leaf, a warp each. Those of the half list lie after the leaf, or are positive
    /// images of it.
    template <bool Images, bool Batch>
    __global__ void __launch_bounds__(block_threads)
        list_ranges(device_cell_view const in, leaf_columns const to)
    {
      std::uint32_t const l = (blockIdx.x * std::size_t(block_threads) + threadIdx.x) / 32;
      int const lane = threadIdx.x % 32;
      if (l >= to.report->leaves) return;
      source_range const own = to.own[l];
      cell_geometry const& g = in.geometry_of<Batch>(l);
      std::uint32_t first_image = 0;
      if constexpr (Batch) first_image = in.system_of(l).first_image;
      bool const writes = to.ranges != nullptr;
      source_range* const full = writes ? to.ranges + to.range_offsets[l] : nullptr;
      source_range* const half =
          writes && in.one_set ? to.half_ranges + to.half_offsets[l] : nullptr;
      int const total = segment_walk::segments<Images>(g);
      range_counts found{};
      for (int s = lane; s - lane < total; s += 32)
      {
        source_segment all;
        if (s < total) all = segment_walk::segment<Images, Batch, false>(in, l, s, 1);
        bool const holds_own = own.begin < own.end && all.begin <= own.begin && own.end <= all.end;
        source_segment image = all, before = all, after = all;
        before.end = min(all.end, own.begin);
        after.begin = max(all.begin, own.end);
        image.begin = own.begin;
        image.end = own.end;
        if (!holds_own || all.shift == 0 || !in.images[first_image + all.shift].is_positive)
          image.end = own.begin;
        if (in.one_set)
          found.half += append(half ? half + found.half : nullptr, image, after, first_image);
        if (!holds_own || all.shift != 0)
        {
          before = all;
          after.begin = after.end;
        }
        found.full += append(full ? full + found.full : nullptr, before, after, first_image);
      }
      if (!writes && lane == 0) to.counts[l] = found;
    }

    /// What exclusive_sum() adds up.
    struct count_of
    {
      range_counts const* counts;
      bool half;

      __device__ std::uint64_t operator()(std::uint32_t l) const
      {
        return half ? counts[l].half : counts[l].full;
      }
    };

    /// For l = 0 ... most.
    __global__ void write_offsets(std::uint64_t const* before, std::uint64_t const* half_before,
                                  std::uint32_t most, leaf_columns const to)
    {
      std::uint32_t const l = thread_index();
      if (l > most) return;
      to.range_offsets[l] = static_cast<index_type>(before[l]);
      if (half_before) to.half_offsets[l] = static_cast<index_type>(half_before[l]);
      if (l < most) return;
      to.report->ranges = before[most];
      to.report->half_ranges = half_before ? half_before[most] : 0;
    }
  }

  cell_leaves make_cell_leaves(sorted_points const& targets, device_cell_view const& cells,
                               std::uint32_t const* system_of_target, cuda_stream stream)
  {
    char const* const what = "cuda_cell_list: leaves";
    cell_leaves made;
    made.report = device_array<cell_leaves_report>(1, stream, what);
    device_clear(made.report.data(), sizeof(cell_leaves_report), stream);
    if (targets.n == 0) return made;
    std::size_t const places = targets.table.size() > 0 ? targets.table.size() - 1 : targets.n;
    std::size_t const most = std::min<std::size_t>(targets.n, places);
    device_array<std::uint32_t> begins(most, stream, what);
    select_numbers(places, begins_leaf{targets.starts()}, begins.data(),
                   &made.report.data()->leaves, stream, what);

    made.offsets = device_array<index_type>(most + 1, stream, what);
    made.own = device_array<source_range>(most, stream, what);
    made.range_offsets = device_array<index_type>(most + 1, stream, what);
    if (cells.one_set) made.half_offsets = device_array<index_type>(most + 1, stream, what);
    device_array<std::uint64_t> keys(most, stream, what);
    device_array<std::uint32_t> systems;
    if (system_of_target) systems = device_array<std::uint32_t>(most, stream, what);
    device_array<range_counts> counts(most + 1, stream, what);
    leaf_columns to{made.report.data(),
                    made.offsets.data(),
                    made.own.data(),
                    keys.data(),
                    systems.data(),
                    counts.data(),
                    made.range_offsets.data(),
                    made.half_offsets.data(),
                    nullptr,
                    nullptr};
    auto const last = static_cast<std::uint32_t>(most);
    unsigned const blocks = blocks_for(most + 1, block_threads);
    place_leaves<<<blocks, block_threads, 0, stream>>>(targets.starts(), begins.data(), last, cells,
                                                       system_of_target, to);
    check_cuda(cudaGetLastError(), "cuda_cell_list: place_leaves");

    device_cell_view in = cells;
    in.item_cell = nullptr;
    in.item_wide_cell = keys.data();
    in.item_system = systems.data();
    auto const list = [&](std::size_t leaves)
    {
      auto* const kernel = in.systems  ? list_ranges<true, true>
                           : in.images ? list_ranges<true, false>
                                       : list_ranges<false, false>;
      kernel<<<blocks_for(leaves * 32, block_threads), block_threads, 0, stream>>>(in, to);
      check_cuda(cudaGetLastError(), "cuda_cell_list: list_ranges");
    };
    list(most);
    device_array<std::uint64_t> before(most + 1, stream, what), half_before;
    exclusive_sum(count_of{counts.data(), false}, before.data(), last + 1, stream, what);
    if (cells.one_set)
    {
      half_before = device_array<std::uint64_t>(most + 1, stream, what);
      exclusive_sum(count_of{counts.data(), true}, half_before.data(), last + 1, stream, what);
    }
    write_offsets<<<blocks, block_threads, 0, stream>>>(before.data(), half_before.data(), last,
                                                        to);
    check_cuda(cudaGetLastError(), "cuda_cell_list: write_offsets");
    device_copy(&made.found, made.report.data(), sizeof made.found, stream);
    if (made.found.ranges > std::numeric_limits<index_type>::max())
      throw error("cuda_cell_list: the interaction list has more than 2^32 - 1 ranges; use fewer "
                  "cells_per_cutoff");

    made.ranges = device_array<source_range>(made.found.ranges, stream, what);
    if (cells.one_set)
      made.half_ranges = device_array<source_range>(made.found.half_ranges, stream, what);
    to.ranges = made.ranges.data();
    to.half_ranges = made.half_ranges.data();
    if (made.found.ranges > 0) list(made.found.leaves);
    end_stage("leaves", stream);
    return made;
  }
}
