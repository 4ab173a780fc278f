#pragma once

#include "pair_tests.cuh"

/// \file
/// A batch of candidates that a warp has gathered: its tests, and the use of their bits.

namespace nearfield::detail
{
  enum class search_stage
  {
    count, ///< count the pairs
    masks, ///< count, and keep the bits of the items for which there is room
    fill   ///< write the indices
  };

  template <search_stage Stage>
  struct __align__(16) warp_scratch
  {
    static constexpr bool fills = Stage == search_stage::fill;
    static constexpr bool keeps = Stage != search_stage::count;

    float4 candidates[batch_candidates]; // staged pairs, after the tests
    float4 points[32];
    uint64_t row_origin[fills ? 32 : 1];
    uint32_t row_place[fills ? 32 : 1];
    uint32_t index[32];
    candidate_chunk chunks[batch_chunks];
    source_segment segments[32];
    image_move moves[32]; // of these
    uint32_t centre[4];
    uint32_t candidate_index[fills ? batch_candidates : 1];
    uint32_t words[keeps ? 32 * words_pitch : 1];
  };

  /// Writes the places of the set bits of a word, combined with `place`, to [end - popc(bits), end).
  __device__ inline void stage_bits(uint32_t bits, uint32_t place, unsigned short* end)
  {
    // backwards: finding the last bit takes one instruction, the first one two
    while (bits != 0)
    {
      int const slot = 31 - __clz(bits);
      *--end = static_cast<unsigned short>(place | slot);
      bits ^= 1u << slot;
    }
  }

  /// f / n for the words f of a batch with n words per point: exact for f < 32 * batch_words and the 31 after it.
  struct word_divider
  {
    uint32_t reciprocal;

    __device__ explicit word_divider(int n) : reciprocal(n != 0 ? (65535u + n) / n : 0) {}
    __device__ int operator()(int f) const { return static_cast<int>(f * reciprocal >> 16); }
  };

  /// The sum over a warp, which may need more than 32 bits.
  __device__ inline uint64_t warp_sum(uint32_t value)
  {
    uint64_t const high = __reduce_add_sync(all_lanes, value >> 16);
    return (high << 16) + __reduce_add_sync(all_lanes, value & 0xffff);
  }

  /// Tests a batch. Returns the number of pairs of the lane's point if `by_row`, and otherwise
  /// of the lane's candidates.
  template <search_stage Stage, search_space Space, class T, int Dim>
  __device__ __forceinline__ uint32_t test_batch(device_cell_view const& in,
                                                 pair_definition<T, Dim> const& pair,
                                                 search_item const& item,
                                                 warp_scratch<Stage>& scratch, int n_slots,
                                                 int n_chunks, own_slots const& own, bool by_row,
                                                 int lane)
  {
    int const n_words = (n_slots + 31) / 32;
    constexpr bool batch = Space == search_space::batch;
    float const ambiguous = in.geometry_of<batch>(item.number).ambiguous;
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
      if (__any_sync(all_lanes, any) || pair.rules.any)
      {
        pair_system<T, Dim> const system =
            pair.template system<batch>(batch ? in.item_system[item.number] : 0);
        uint32_t shifts[4] = {0, 0, 0, 0}; // of the lane's candidates
        if (has_images(Space))
#pragma unroll 1
          for (int c = 0; c < n_chunks; ++c)
#pragma unroll
            for (int q = 0; q < 4; ++q)
              if (scratch.chunks[c].first <= (first + q) * 32 + lane)
                shifts[q] = scratch.chunks[c].shift;
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (q < n && (first + q) * 32 + lane < n_slots)
            masks[q] = exact_word(pair, system, candidates[32 * q], shifts[q], scratch.points,
                                  scratch.index, item.count, ambiguous, masks[q]);
      }
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

  /// Keeps the bits of a batch and writes its head to `link`. Returns the place of the next batch's head, or
  /// null if there is no room.
  __device__ inline mask_head* keep_masks(search_output const& out, mask_head* link,
                                          search_item const& points, uint32_t const* words,
                                          candidate_chunk const* chunks, int n_slots, int n_chunks,
                                          bool goes_on, int lane)
  {
    int const n_words = (n_slots + 31) / 32, n = points.count * n_words;
    int const before = n_chunks * chunk_words(out.keeps_shifts);
    uint64_t const wanted = (n + before + 2 * mask_head_words - 1) & ~(mask_head_words - 1);
    unsigned long long first = 0;
    if (lane == 0) first = atomicAdd(&out.counters->mask_words, wanted);
    first = __shfl_sync(all_lanes, first, 0);
    if (first + wanted > out.mask_capacity) return nullptr;
    auto* const next = reinterpret_cast<mask_head*>(out.masks + first);
    first += mask_head_words;
    if (lane == 0)
      *link = {first,
               static_cast<uint32_t>(points.count | n_words << 8 | n_chunks << 16) |
                   (goes_on ? 1u << 31 : 0u),
               points.begin};
    uint32_t* const masks = out.masks + first;
    if (lane < n_chunks)
    {
      candidate_chunk const chunk = chunks[lane];
      reinterpret_cast<uint2*>(masks)[lane] = make_uint2(chunk.begin, chunk.kept);
      if (out.keeps_shifts) masks[2 * n_chunks + lane] = chunk.shift;
    }
    word_divider const row_of(n_words);
    for (int f = lane; f < n; f += 32)
    {
      int const row = row_of(f);
      masks[before + f] = words[row * words_pitch + f - row * n_words];
    }
    return next;
  }

  /// Writes the pairs of a batch, row by row and in the order of slots: bits become slots in shared memory,
  /// 32 words at a time, and these are copied out.
  __device__ inline void write_batch(search_output const& out,
                                     warp_scratch<search_stage::fill>& scratch,
                                     search_item const& points, int n_slots, int n_chunks,
                                     uint32_t found, uint32_t& row_done, int lane)
  {
    int const n_words = (n_slots + 31) / 32, n = points.count * n_words;
    // parts of the words of images, and staged pairs
    auto* const of_candidates = reinterpret_cast<uint32_t*>(scratch.candidates);
    uint32_t* const of_points = of_candidates + batch_candidates;
    auto* const staged = reinterpret_cast<unsigned short*>(of_points + 32);
    static_assert(sizeof scratch.candidates >=
                  (batch_candidates + 32) * sizeof *of_points + 32 * 32 * sizeof *staged);
    image_form const form = out.images.form();
    if (form != image_form::none)
    {
      uint32_t const* const of_shifts = out.images.of_shifts_around(points.number);
      of_points[lane] = lane < points.count ? out.images.of_target(points.begin + lane) : 0;
      for (int c = 0; c < n_chunks; ++c)
      {
        candidate_chunk const chunk = scratch.chunks[c];
        if (chunk.has(lane))
          of_candidates[chunk.slot(lane)] = image_output::of_image(of_shifts, chunk.shift) +
                                            out.images.of_source(chunk.begin + lane);
      }
    }
    // pair t of the batch goes to place row_place + t of its row
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
        uint32_t const slot = pair & ((1 << slot_bits) - 1);
        uint32_t const in_row = scratch.row_place[i] + written + t;
        if (in_row >= width) continue;
        uint64_t const at = scratch.row_origin[i] + in_row;
        if (at >= out.room) continue;
        __stcs(out.out_j + at, scratch.candidate_index[slot]);
        if (out.out_i) __stcs(out.out_i + at, scratch.index[i]);
        with_form(form,
                  [&](auto of) { out.images.put<of()>(at, of_candidates[slot] + of_points[i]); });
      }
      written += total;
      __syncwarp();
    }
  }
}
