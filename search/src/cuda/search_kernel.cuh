#pragma once

#include "batch.cuh"

/// \file
/// The search: a warp takes an item, up to 32 points of neighbouring cells, and tests them against batches of
/// candidates. Every stage makes the tests of a batch as one bit per point and candidate.

namespace nearfield::detail
{
  /// The place where the lane's row starts.
  __device__ inline uint64_t row_origin(search_output const& out, uint32_t item,
                                        search_item const& points, int lane)
  {
    bool const is_row = lane < points.count;
    if (out.item_offsets)
      return out.item_offsets[item] +
             sum_before(is_row ? out.row_of_position[points.begin + lane] : 0u, lane);
    if (!is_row) return 0;
    return out.row_offsets ? out.row_offsets[points.index] : uint64_t(points.index) * out.width;
  }

  template <class T, int Dim, search_stage Stage, search_space Space>
  __global__ void __launch_bounds__(search_threads, search_blocks)
      search_kernel(__grid_constant__ device_cell_view const in,
                    __grid_constant__ pair_definition<T, Dim> const pair,
                    __grid_constant__ search_output const out)
  {
    __shared__ warp_scratch<Stage> scratch_of_warp[search_warps];
    warp_scratch<Stage>& scratch = scratch_of_warp[threadIdx.x / 32];
    constexpr bool batch = Space == search_space::batch;
    int const lane = threadIdx.x % 32;
    bool const by_row = out.row_of_index || out.row_of_position || out.item_pairs;
    uint64_t pairs_of_warp = 0;

    // Items differ much in cost, so a warp that is done takes the next one.
    uint32_t* const taken =
        Stage == search_stage::fill ? &out.counters->items_filled : &out.counters->items_counted;
    uint32_t const n_items = !out.only_items        ? in.items()
                             : out.found_only_items ? *out.found_only_items
                                                    : out.n_only_items;
    uint32_t next = 0;
    for (uint32_t k = blockIdx.x * search_warps + threadIdx.x / 32; k < n_items;
         k = __shfl_sync(all_lanes, next, 0))
    {
      if (lane == 0) next = gridDim.x * search_warps + atomicAdd(taken, 1u); // while it is searched
      uint32_t const item = out.only_items ? out.only_items[k] : k;
      search_item const points(in, in.geometry_of<batch>(item), item, scratch.centre, lane);
      scratch.index[lane] = points.index;
      scratch.points[lane] = make_float4(-points.x[0], -points.x[1], -points.x[2],
                                         half_square(points.x[0], points.x[1], points.x[2]) - 0.5f);
      if constexpr (Stage == search_stage::fill)
        scratch.row_origin[lane] = row_origin(out, item, points, lane);

      segment_walk walk(scratch.segments, scratch.moves);
      uint32_t row_pairs = 0; // of the lane's point if by_row, otherwise of the lane's candidates
      mask_head* link = Stage == search_stage::masks ? out.heads + item : nullptr;
      bool has_one_batch = false;
      for (bool done = false, first = true; !done; first = false)
      {
        int n_slots = 0, n_chunks = 0;
        own_slots own;
        done = gather_candidates<Space>(in, points, walk, scratch.candidates, scratch.chunks,
                                        n_slots, n_chunks, own, lane);
        // far away, so that the padding of the last word adds no ambiguous pairs
        int const padded = (n_slots + 31) / 32 * 32;
        if (n_slots + lane < padded)
          scratch.candidates[n_slots + lane] = make_float4(1e18f, 0, 0, 0);
        __syncwarp();
        if constexpr (Stage == search_stage::fill)
          for (int s = lane; s < n_slots; s += 32)
            scratch.candidate_index[s] = __float_as_uint(scratch.candidates[s].w);

        uint32_t const found = test_batch<Stage, Space>(in, pair, points, scratch, n_slots,
                                                        n_chunks, own, by_row, lane);
        __syncwarp();
        if constexpr (Stage == search_stage::masks)
        {
          has_one_batch = done && first;
          if (link)
            link = keep_masks(out, link, points, scratch.words, scratch.chunks, n_slots, n_chunks,
                              !done, lane);
        }
        if constexpr (Stage == search_stage::fill)
          write_batch(out, scratch, points, n_slots, n_chunks, found, row_pairs, lane);
        else
          row_pairs += found;
        __syncwarp();
      }

      if (Stage != search_stage::fill && !by_row)
      {
        pairs_of_warp += row_pairs;
        continue;
      }
      if (lane < points.count && out.row_of_index)
        out.row_of_index[scratch.index[lane]] = row_pairs;
      if constexpr (Stage == search_stage::fill)
      {
        if (out.row_of_index && lane < points.count && row_pairs > out.width)
          atomicMax(&out.counters->longest, row_pairs);
      }
      else
      {
        if (lane < points.count && out.row_of_position &&
            (out.every_row || !(link && has_one_batch)))
          out.row_of_position[points.begin + lane] = row_pairs;
        uint64_t const total = warp_sum(row_pairs);
        if (lane == 0 && out.item_pairs) out.item_pairs[item] = total;
        pairs_of_warp += lane == 0 ? total : 0;
        if (Stage == search_stage::masks && lane == 0)
        {
          if (!link)
          {
            out.heads[item] = {no_masks, 0, 0};
            out.unmasked_items[atomicAdd(&out.counters->items_without_masks, 1u)] = item;
          }
          else if (!has_one_batch && out.items_of_many_batches)
            out.items_of_many_batches[atomicAdd(&out.counters->items_of_many_batches, 1u)] = item;
        }
      }
      __syncwarp();
    }
    if constexpr (Stage != search_stage::fill)
    {
      for (int s = 16; s > 0; s /= 2) pairs_of_warp += __shfl_xor_sync(all_lanes, pairs_of_warp, s);
      if (lane == 0 && pairs_of_warp != 0)
        atomicAdd(&out.counters->pairs, static_cast<unsigned long long>(pairs_of_warp));
      __threadfence();
      __syncthreads();
      if (threadIdx.x != 0 || atomicAdd(&out.counters->blocks_done, 1u) != gridDim.x - 1) return;
      __threadfence();
      auto const* const found = static_cast<search_counters const volatile*>(out.counters);
      auto* const to = static_cast<search_counters volatile*>(out.counters_for_host);
      to->mask_words = found->mask_words;
      to->pairs = found->pairs;
      to->items_without_masks = found->items_without_masks;
      to->items_of_many_batches = found->items_of_many_batches;
      __threadfence_system();
      to->blocks_done = 1;
    }
  }
}
