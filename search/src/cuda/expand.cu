#include "expand.hpp"

#include "batch.cuh"

#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  namespace
  {
    /// Small blocks end as soon as their warps are done. Persistent warps that take items one by one would
    /// write to more places at a time, which costs more.
    constexpr int expand_warps = 2, expand_threads = 32 * expand_warps;

    /// The shifts of candidates, if they are asked for.
    template <bool Shifts>
    struct candidate_shifts
    {
      unsigned short shift[batch_candidates];
    };
    template <>
    struct candidate_shifts<false>
    {};

    template <bool Shifts>
    struct __align__(16) expand_scratch : candidate_shifts<Shifts>
    {
      // four at a time, from the first aligned place of the output on
      __align__(16) unsigned short staged[1024 + 8];
      uint32_t candidate[batch_candidates];
      uint32_t index[32];
    };

    /// Reads the indices of the candidates of a batch, from its chunks, and their shifts. The loads may overtake the
    /// stores.
    template <bool Shifts>
    __device__ __forceinline__ void read_candidates(uint32_t const* batch, int n_chunks,
                                                    uint32_t const* source_order, uint32_t* to,
                                                    candidate_shifts<Shifts>& shifts, int lane)
    {
      uint2 const mine =
          lane < n_chunks ? reinterpret_cast<uint2 const*>(batch)[lane] : make_uint2(0, 0);
      uint32_t const my_shift = Shifts && lane < n_chunks ? batch[2 * n_chunks + lane] : 0;
      uint32_t const before = sum_before(__popc(mine.y), lane);
#pragma unroll 4
      for (int c = 0; c < n_chunks; ++c)
      {
        uint32_t const begin = __shfl_sync(all_lanes, mine.x, c);
        uint32_t const kept = __shfl_sync(all_lanes, mine.y, c);
        uint32_t const first = __shfl_sync(all_lanes, before, c);
        if (kept >> lane & 1)
          to[first + __popc(kept & ((1u << lane) - 1))] = __ldg(source_order + begin + lane);
        if constexpr (Shifts)
        {
          auto const shift = static_cast<unsigned short>(__shfl_sync(all_lanes, my_shift, c));
          if (kept >> lane & 1) shifts.shift[first + __popc(kept & ((1u << lane) - 1))] = shift;
        }
      }
    }

    /// Copies staged pairs [skip, end) to places out + skip ..., where out is a multiple of 4, with stores of
    /// 16 bytes to both columns, and of 8 to that of shifts.
    template <bool Shifts>
    __device__ void write_pairs(expand_scratch<Shifts> const& scratch, uint32_t skip, uint32_t end,
                                uint32_t* out_i, uint32_t* out_j, unsigned short* out_shift,
                                int lane)
    {
      constexpr uint32_t slot_mask = (1 << slot_bits) - 1;
      for (uint32_t t = 4 * lane; t < end; t += 128)
      {
        ushort4 const four = *reinterpret_cast<ushort4 const*>(scratch.staged + t);
        uint32_t const pairs[4] = {four.x, four.y, four.z, four.w};
        if (t >= skip && t + 4 <= end)
        {
          uint4 i, j;
          i.x = scratch.index[pairs[0] >> slot_bits];
          i.y = scratch.index[pairs[1] >> slot_bits];
          i.z = scratch.index[pairs[2] >> slot_bits];
          i.w = scratch.index[pairs[3] >> slot_bits];
          j.x = scratch.candidate[pairs[0] & slot_mask];
          j.y = scratch.candidate[pairs[1] & slot_mask];
          j.z = scratch.candidate[pairs[2] & slot_mask];
          j.w = scratch.candidate[pairs[3] & slot_mask];
          __stcs(reinterpret_cast<uint4*>(out_i + t), i);
          __stcs(reinterpret_cast<uint4*>(out_j + t), j);
          if constexpr (Shifts)
            __stcs(reinterpret_cast<ushort4*>(out_shift + t),
                   make_ushort4(
                       scratch.shift[pairs[0] & slot_mask], scratch.shift[pairs[1] & slot_mask],
                       scratch.shift[pairs[2] & slot_mask], scratch.shift[pairs[3] & slot_mask]));
        }
        else
#pragma unroll
          for (uint32_t k = 0; k < 4; ++k)
            if (t + k >= skip && t + k < end)
            {
              __stcs(out_i + t + k, scratch.index[pairs[k] >> slot_bits]);
              __stcs(out_j + t + k, scratch.candidate[pairs[k] & slot_mask]);
              if constexpr (Shifts) __stcs(out_shift + t + k, scratch.shift[pairs[k] & slot_mask]);
            }
      }
    }

    template <bool Shifts>
    __global__ void __launch_bounds__(expand_threads, 48 / expand_warps)
        expand_kernel(mask_head const* __restrict__ heads, uint32_t n_items,
                      uint32_t const* __restrict__ masks, uint64_t const* __restrict__ item_offsets,
                      uint32_t const* __restrict__ target_order,
                      uint32_t const* __restrict__ source_order, uint32_t* __restrict__ out_i,
                      uint32_t* __restrict__ out_j, unsigned short* __restrict__ out_shift)
    {
      __shared__ expand_scratch<Shifts> scratch_of_warp[expand_warps];
      expand_scratch<Shifts>& scratch = scratch_of_warp[threadIdx.x / 32];
      int const lane = threadIdx.x % 32;
      uint32_t const stride = gridDim.x * expand_warps;
      for (uint32_t item = blockIdx.x * expand_warps + threadIdx.x / 32; item < n_items;
           item += stride)
      {
        mask_head const head = heads[item];
        uint64_t at = item_offsets[item];
        if (head.first == no_masks || head.goes_on()) continue;
        int const n_points = head.points(), n_words = head.words(), n_chunks = head.chunks();
        uint32_t const* const item_masks = masks + head.first;
        uint32_t const* const words = item_masks + chunk_words(Shifts) * n_chunks;
        int const n = n_points * n_words;
        uint32_t bits = lane < n ? words[lane] : 0;
        if (lane < n_points) scratch.index[lane] = target_order[head.begin + lane];
        read_candidates<Shifts>(item_masks, n_chunks, source_order, scratch.candidate, scratch,
                                lane);
        __syncwarp();
        word_divider const row_of(n_words);
        // staged pairs [skip, filled) belong at `at` + ...
        uint32_t skip = static_cast<uint32_t>(at) & 3, filled = skip;
        at -= skip;
        for (int f0 = 0; f0 < n; f0 += 32)
        {
          int const f = f0 + lane, row = row_of(f);
          uint32_t const next = f + 32 < n ? words[f + 32] : 0;
          uint32_t const mine = __popc(bits), end = filled + sum_before(mine, lane) + mine;
          stage_bits(bits, row << slot_bits | (f - row * n_words) << 5, scratch.staged + end);
          filled = __shfl_sync(all_lanes, end, 31);
          __syncwarp();
          uint32_t const whole = f0 + 32 < n ? filled & ~3u : filled;
          if (whole != 0)
          {
            write_pairs(scratch, skip, whole, out_i + at, out_j + at,
                        Shifts ? out_shift + at : nullptr, lane);
            // up to three pairs wait for the next ones
            unsigned short const left = lane < 4 ? scratch.staged[whole + lane] : 0;
            __syncwarp();
            if (lane < 4) scratch.staged[lane] = left;
            at += whole;
            filled -= whole;
            skip = 0;
          }
          bits = next;
          __syncwarp();
        }
      }
    }

    template <bool Shifts>
    struct __align__(16) rows_scratch : candidate_shifts<Shifts>
    {
      unsigned short staged[1024];
      uint64_t row_origin[32];
      uint32_t row_place[32];
      uint32_t index[32];
      uint32_t candidate[batch_candidates];
      uint32_t words[32 * batch_words];
    };

    /// The same for rows that start anywhere, or whose entries come from several batches.
    template <bool Shifts>
    __global__ void __launch_bounds__(expand_threads, 32 / expand_warps)
        expand_rows_kernel(__grid_constant__ row_masks const in,
                           uint32_t const* __restrict__ target_order,
                           uint32_t const* __restrict__ source_order, uint32_t* __restrict__ out_i,
                           uint32_t* __restrict__ out_j, unsigned short* __restrict__ out_shift)
    {
      __shared__ rows_scratch<Shifts> scratch_of_warp[expand_warps];
      rows_scratch<Shifts>& scratch = scratch_of_warp[threadIdx.x / 32];
      int const lane = threadIdx.x % 32;
      uint32_t const stride = gridDim.x * expand_warps;
      for (uint32_t k = blockIdx.x * expand_warps + threadIdx.x / 32; k < in.n_items; k += stride)
      {
        uint32_t const item = in.items ? in.items[k] : k;
        mask_head head = in.heads[item];
        if (head.first == no_masks) continue;
        int const n_points = head.points();
        bool const is_row = lane < n_points;
        uint32_t const index = is_row ? target_order[head.begin + lane] : 0;
        scratch.index[lane] = index;
        if (in.row_offsets)
          scratch.row_origin[lane] = is_row ? in.row_offsets[index] : 0;
        else
          scratch.row_origin[lane] =
              in.item_offsets[item] +
              sum_before(is_row ? in.row_of_position[head.begin + lane] : 0u, lane);
        for (uint32_t row_done = 0;;)
        {
          int const n_words = head.words(), n_chunks = head.chunks(), n = n_points * n_words;
          uint32_t const* const batch = in.masks + head.first;
          for (int f = lane; f < n; f += 32)
            scratch.words[f] = batch[chunk_words(Shifts) * n_chunks + f];
          read_candidates<Shifts>(batch, n_chunks, source_order, scratch.candidate, scratch, lane);
          __syncwarp();
          uint32_t found = 0;
          for (int w = 0; w < n_words && is_row; ++w)
            found += __popc(scratch.words[lane * n_words + w]);
          scratch.row_place[lane] = row_done - sum_before(found, lane);
          row_done += found;
          __syncwarp();
          word_divider const row_of(n_words);
          uint32_t written = 0;
          for (int f0 = 0; f0 < n; f0 += 32)
          {
            int const f = f0 + lane, row = row_of(f);
            uint32_t const bits = f < n ? scratch.words[f] : 0;
            uint32_t const mine = __popc(bits), mine_before = sum_before(mine, lane);
            uint32_t const total = __shfl_sync(all_lanes, mine_before + mine, 31);
            stage_bits(bits, row << slot_bits | (f - row * n_words) << 5,
                       scratch.staged + mine_before + mine);
            __syncwarp();
            for (uint32_t t = lane; t < total; t += 32)
            {
              uint32_t const pair = scratch.staged[t], i = pair >> slot_bits;
              uint64_t const at = scratch.row_origin[i] + (scratch.row_place[i] + written + t);
              __stcs(out_j + at, scratch.candidate[pair & ((1 << slot_bits) - 1)]);
              if (out_i) __stcs(out_i + at, scratch.index[i]);
              if constexpr (Shifts)
                __stcs(out_shift + at, scratch.shift[pair & ((1 << slot_bits) - 1)]);
            }
            written += total;
            __syncwarp();
          }
          if (!head.goes_on()) break;
          head = *reinterpret_cast<mask_head const*>(batch - mask_head_words);
        }
      }
    }

    constexpr int simple_threads = 256;

    unsigned simple_blocks(std::uint64_t n)
    {
      return static_cast<unsigned>(
          std::min<std::uint64_t>((n + simple_threads - 1) / simple_threads, 1 << 16));
    }

    __global__ void keys_kernel(uint32_t const* i, uint32_t const* j, uint64_t* keys, uint64_t n,
                                bool smaller_first, unsigned short* shifts, int n_shifts)
    {
      for (uint64_t p = blockIdx.x * uint64_t(simple_threads) + threadIdx.x; p < n;
           p += gridDim.x * uint64_t(simple_threads))
      {
        uint32_t const a = i[p], b = j[p];
        bool const swap = smaller_first && b < a;
        keys[p] = uint64_t(swap ? b : a) << 32 | (swap ? a : b);
        if (swap && shifts && shifts[p] != 0) // the opposite one
          shifts[p] = static_cast<unsigned short>(n_shifts - shifts[p]);
      }
    }

    __global__ void pairs_kernel(uint64_t const* keys, uint32_t* i, uint32_t* j, uint64_t n)
    {
      for (uint64_t p = blockIdx.x * uint64_t(simple_threads) + threadIdx.x; p < n;
           p += gridDim.x * uint64_t(simple_threads))
      {
        if (i) i[p] = static_cast<uint32_t>(keys[p] >> 32);
        j[p] = static_cast<uint32_t>(keys[p]);
      }
    }

    /// One warp per row.
    __global__ void rows_kernel(uint64_t const* offsets, uint32_t n_rows, uint32_t* i)
    {
      uint32_t const stride = gridDim.x * (simple_threads / 32);
      for (uint32_t row = blockIdx.x * (simple_threads / 32) + threadIdx.x / 32; row < n_rows;
           row += stride)
        for (uint64_t p = offsets[row] + threadIdx.x % 32; p < offsets[row + 1]; p += 32)
          i[p] = row;
    }
  }

  void expand_masks(mask_head const* heads, std::uint32_t n_items, std::uint32_t const* masks,
                    std::uint64_t const* item_offsets, std::uint32_t const* target_order,
                    std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream)
  {
    unsigned const blocks = (n_items + expand_warps - 1) / expand_warps;
    auto const kernel = out.shift ? expand_kernel<true> : expand_kernel<false>;
    kernel<<<blocks, expand_threads, 0, stream>>>(heads, n_items, masks, item_offsets, target_order,
                                                  source_order, out.i, out.j, out.shift);
    check_cuda(cudaGetLastError(), "radius_search: expand_masks");
  }

  void expand_rows(row_masks const& in, std::uint32_t const* target_order,
                   std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream)
  {
    if (in.n_items == 0) return;
    unsigned const blocks = (in.n_items + expand_warps - 1) / expand_warps;
    auto const kernel = out.shift ? expand_rows_kernel<true> : expand_rows_kernel<false>;
    kernel<<<blocks, expand_threads, 0, stream>>>(in, target_order, source_order, out.i, out.j,
                                                  out.shift);
    check_cuda(cudaGetLastError(), "radius_search: expand_rows");
  }

  void keys_of_pairs(pair_columns const& pairs, std::uint64_t* keys, std::uint64_t n,
                     bool smaller_first, int n_shifts, cuda_stream stream)
  {
    keys_kernel<<<simple_blocks(n), simple_threads, 0, stream>>>(
        pairs.i, pairs.j, keys, n, smaller_first, pairs.shift, n_shifts);
    check_cuda(cudaGetLastError(), "radius_search: keys_of_pairs");
  }

  void pairs_of_keys(std::uint64_t const* keys, std::uint32_t* i, std::uint32_t* j, std::uint64_t n,
                     cuda_stream stream)
  {
    pairs_kernel<<<simple_blocks(n), simple_threads, 0, stream>>>(keys, i, j, n);
    check_cuda(cudaGetLastError(), "radius_search: pairs_of_keys");
  }

  void rows_of_entries(std::uint64_t const* offsets, std::uint32_t n_rows, std::uint32_t* i,
                       cuda_stream stream)
  {
    rows_kernel<<<simple_blocks(std::uint64_t(n_rows) * 32), simple_threads, 0, stream>>>(
        offsets, n_rows, i);
    check_cuda(cudaGetLastError(), "radius_search: rows_of_entries");
  }
}
