#pragma once

#include "tests.cuh"

/// \file
/// The search: a warp takes an item, up to 32 points of neighbouring cells, and tests them against batches of
/// candidates. The tests of a batch are a bit for every point and candidate, whatever comes of them then.

namespace nearfield::detail
{
  enum class search_stage
  {
    count, ///< how many
    masks, ///< count, and keep the bits of the items that find room
    fill   ///< write the indices
  };

  template <search_stage Stage>
  struct __align__(16) warp_scratch
  {
    static constexpr bool fills = Stage == search_stage::fill;
    static constexpr bool keeps = Stage != search_stage::count;

    float4 candidates[batch_candidates]; // staged pairs, once they are tested
    float4 points[32];
    uint64_t row_origin[fills ? 32 : 1];
    uint32_t row_place[fills ? 32 : 1];
    uint32_t index[32];
    uint32_t candidate_index[fills ? batch_candidates : 1];
    uint32_t words[keeps ? 32 * words_pitch : 1];
  };

  __device__ inline uint32_t sum_before(uint32_t value, int lane)
  {
    uint32_t sum = value;
#pragma unroll
    for (int s = 1; s < 32; s *= 2)
    {
      uint32_t const before = __shfl_up_sync(all_lanes, sum, s);
      if (lane >= s) sum += before;
    }
    return sum - value;
  }

  /// The places of the bits of a word, with `place` in front, into [end - popc(bits), end).
  __device__ inline void stage_bits(uint32_t bits, uint32_t place, unsigned short* end)
  {
    // backwards: one instruction finds the last bit, the first one takes two
    while (bits != 0)
    {
      int const slot = 31 - __clz(bits);
      *--end = static_cast<unsigned short>(place | slot);
      bits ^= 1u << slot;
    }
  }

  /// f / n for the words f of a batch, n a point: exact for f < 32 * batch_words and the 31 after it.
  struct word_divider
  {
    uint32_t reciprocal;

    __device__ explicit word_divider(int n) : reciprocal(n != 0 ? (65535u + n) / n : 0) {}
    __device__ int operator()(int f) const { return static_cast<int>(f * reciprocal >> 16); }
  };

  /// 32 numbers whose sum may need more than 32 bits.
  __device__ inline uint64_t warp_sum(uint32_t value)
  {
    uint64_t const high = __reduce_add_sync(all_lanes, value >> 16);
    return (high << 16) + __reduce_add_sync(all_lanes, value & 0xffff);
  }

  /// Tests a batch. Without `by_row` the result is how many pairs the lane's candidates have, else how many
  /// the lane's point has.
  template <search_stage Stage, class T, int Dim>
  __device__ __forceinline__ uint32_t test_batch(search_input const& in,
                                                 pair_definition<T, Dim> const& pair,
                                                 search_item const& item,
                                                 warp_scratch<Stage>& scratch, int n_slots,
                                                 own_slots const& own, bool by_row, int lane)
  {
    int const n_words = (n_slots + 31) / 32;
    float const ambiguous = in.geometry.ambiguous;
    uint32_t found = 0;
    for (int first = 0; first < n_words; first += 4)
    {
      uint32_t masks[4];
      float4 const* const candidates = scratch.candidates + first * 32 + lane;
      int const n = min(4, n_words - first);
      bool any;
      if (n == 4)
        any = test_words<4>(candidates, scratch.points, item.count, ambiguous, masks);
      else if (n == 3)
        any = test_words<3>(candidates, scratch.points, item.count, ambiguous, masks);
      else if (n == 2)
        any = test_words<2>(candidates, scratch.points, item.count, ambiguous, masks);
      else
        any = test_words<1>(candidates, scratch.points, item.count, ambiguous, masks);
      if (__any_sync(all_lanes, any))
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (q < n && (first + q) * 32 + lane < n_slots)
            masks[q] = exact_word(pair, candidates[32 * q], scratch.points, scratch.index,
                                  item.count, ambiguous, masks[q]);
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (q < n)
        {
          int const slot = (first + q) * 32 + lane;
          uint32_t const mask = slot < n_slots ? without_own(masks[q], slot, own, in.half) : 0u;
          if (Stage == search_stage::count && !by_row)
            found += __popc(mask);
          else
          {
            uint32_t const word = transposed(mask, lane);
            if constexpr (Stage != search_stage::count)
              scratch.words[lane * words_pitch + first + q] = word;
            found += __popc(word);
          }
        }
    }
    return found;
  }

  /// Keeps the bits of a batch, its head where `link` points; where the head of the next one belongs, or null
  /// where there is no room.
  __device__ inline mask_head* keep_masks(search_output const& out, mask_head* link,
                                          search_item const& points, uint32_t const* words,
                                          int n_slots, candidate_chunks const& chunks, bool goes_on,
                                          int lane)
  {
    int const n_words = (n_slots + 31) / 32, n = points.count * n_words;
    uint64_t const wanted =
        (n + 2 * chunks.count + 2 * mask_head_words - 1) & ~(mask_head_words - 1);
    unsigned long long first = 0;
    if (lane == 0) first = atomicAdd(&out.counters->mask_words, wanted);
    first = __shfl_sync(all_lanes, first, 0);
    if (first + wanted > out.mask_capacity) return nullptr;
    auto* const next = reinterpret_cast<mask_head*>(out.masks + first);
    first += mask_head_words;
    if (lane == 0)
      *link = {first,
               static_cast<uint32_t>(points.count | n_words << 8 | chunks.count << 16) |
                   (goes_on ? 1u << 31 : 0u),
               points.begin};
    uint32_t* const masks = out.masks + first;
    if (lane < chunks.count)
      reinterpret_cast<uint2*>(masks)[lane] = make_uint2(chunks.begin, chunks.kept);
    word_divider const row_of(n_words);
    for (int f = lane; f < n; f += 32)
    {
      int const row = row_of(f);
      masks[2 * chunks.count + f] = words[row * words_pitch + f - row * n_words];
    }
    return next;
  }

  /// Writes the pairs of a batch, row by row and in the order of slots: bits become slots in shared memory,
  /// 32 words at a time, and those are copied out.
  __device__ inline void write_batch(search_output const& out,
                                     warp_scratch<search_stage::fill>& scratch, int n_points,
                                     int n_slots, uint32_t found, uint32_t& row_done, int lane)
  {
    int const n_words = (n_slots + 31) / 32, n = n_points * n_words;
    auto* const staged = reinterpret_cast<unsigned short*>(scratch.candidates);
    // place of pair t of the batch in its row: row_place + t
    scratch.row_place[lane] = row_done - sum_before(found, lane);
    row_done += found;
    uint32_t const width = out.width != 0 ? out.width : ~0u;
    __syncwarp();
    uint32_t written = 0;
    word_divider const row_of(n_words);
    for (int f0 = 0; f0 < n; f0 += 32)
    {
      int const f = f0 + lane, row = row_of(f), word = f - row * n_words;
      uint32_t const bits = f < n ? scratch.words[row * words_pitch + word] : 0;
      uint32_t const mine = __popc(bits), before = sum_before(mine, lane);
      auto const total = __shfl_sync(all_lanes, before + mine, 31);
      stage_bits(bits, row << slot_bits | word << 5, staged + before + mine);
      __syncwarp();
      for (uint32_t t = lane; t < total; t += 32)
      {
        uint32_t const pair = staged[t], i = pair >> slot_bits;
        uint32_t const in_row = scratch.row_place[i] + written + t;
        if (in_row >= width) continue;
        uint64_t const at = scratch.row_origin[i] + in_row;
        __stcs(out.out_j + at, scratch.candidate_index[pair & ((1 << slot_bits) - 1)]);
        if (out.out_i) __stcs(out.out_i + at, scratch.index[i]);
      }
      written += total;
      __syncwarp();
    }
  }

  /// Where the lane's row starts.
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

  template <class T, int Dim, search_stage Stage>
  __global__ void __launch_bounds__(search_threads, search_blocks)
      search_kernel(__grid_constant__ search_input const in,
                    __grid_constant__ pair_definition<T, Dim> const pair,
                    __grid_constant__ search_output const out)
  {
    __shared__ warp_scratch<Stage> scratch_of_warp[search_warps];
    warp_scratch<Stage>& scratch = scratch_of_warp[threadIdx.x / 32];
    int const lane = threadIdx.x % 32;
    bool const by_row = out.row_of_index || out.row_of_position || out.item_pairs;
    uint64_t pairs_of_warp = 0;

    // Items take from little time to much: a warp that is done takes the next one.
    uint32_t* const taken =
        Stage == search_stage::fill ? &out.counters->items_filled : &out.counters->items_counted;
    uint32_t const n_items = out.only_items ? out.n_only_items : in.n_items;
    uint32_t next = 0;
    for (uint32_t k = blockIdx.x * search_warps + threadIdx.x / 32; k < n_items;
         k = __shfl_sync(all_lanes, next, 0))
    {
      if (lane == 0) next = gridDim.x * search_warps + atomicAdd(taken, 1u); // while it is searched
      uint32_t const item = out.only_items ? out.only_items[k] : k;
      search_item const points(in, item, lane);
      scratch.index[lane] = points.index;
      scratch.points[lane] = make_float4(-points.x[0], -points.x[1], -points.x[2],
                                         half_square(points.x[0], points.x[1], points.x[2]) - 0.5f);
      if constexpr (Stage == search_stage::fill)
        scratch.row_origin[lane] = row_origin(out, item, points, lane);

      segment_walk walk;
      uint32_t row_pairs = 0; // of the lane's point, or of the lane
      mask_head* link = Stage == search_stage::masks ? out.heads + item : nullptr;
      bool has_one_batch = false;
      for (bool done = false, first = true; !done; first = false)
      {
        int n_slots = 0;
        own_slots own;
        candidate_chunks chunks;
        done = gather_candidates(in, points, item, walk, scratch.candidates, n_slots, own, chunks,
                                 lane);
        // far away, so that the last word has no ambiguous pairs of its own
        int const padded = (n_slots + 31) / 32 * 32;
        if (n_slots + lane < padded)
          scratch.candidates[n_slots + lane] = make_float4(1e18f, 0, 0, 0);
        __syncwarp();
        if constexpr (Stage == search_stage::fill)
          for (int s = lane; s < n_slots; s += 32)
            scratch.candidate_index[s] = __float_as_uint(scratch.candidates[s].w);

        uint32_t const found =
            test_batch<Stage>(in, pair, points, scratch, n_slots, own, by_row, lane);
        __syncwarp();
        if constexpr (Stage == search_stage::masks)
        {
          has_one_batch = done && first;
          if (link)
            link = keep_masks(out, link, points, scratch.words, n_slots, chunks, !done, lane);
        }
        if constexpr (Stage == search_stage::fill)
          write_batch(out, scratch, points.count, n_slots, found, row_pairs, lane);
        else
          row_pairs += found;
        __syncwarp();
      }

      if (Stage != search_stage::fill && !by_row)
      {
        pairs_of_warp += row_pairs;
        continue;
      }
      if (lane < points.count && out.row_of_index) out.row_of_index[points.index] = row_pairs;
      if constexpr (Stage == search_stage::fill)
      {
        if (out.row_of_index && lane < points.count && row_pairs > out.width)
          out.counters->overflow = 1;
      }
      else
      {
        if (lane < points.count && out.row_of_position && !(link && has_one_batch))
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
