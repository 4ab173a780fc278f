#include "expand.hpp"

#include "batch.cuh"

#include <nearfield/cuda/device.hpp>

#include <algorithm>

namespace nearfield::detail
{
  namespace
  {
    /// Small blocks end as soon as their warps are done. Persistent warps that take items one by one would
    /// write to more places at a time, which costs more.
    constexpr int expand_warps = 2, expand_threads = 32 * expand_warps;

    /// A point of an item, or a candidate: its index, and its part of the words of images.
    template <bool Images>
    struct __align__(8) pair_end
    {
      uint32_t index, image;
    };
    template <>
    struct pair_end<false>
    {
      uint32_t index;
    };

    template <bool Images>
    struct __align__(16) expand_scratch
    {
      // four at a time, from the first aligned place of the output on
      __align__(16) unsigned short staged[1024 + 8];
      pair_end<Images> candidates[batch_candidates];
      pair_end<Images> points[32];
    };

    /// Reads the point of an item at a position.
    template <bool Images>
    __device__ void read_point(uint32_t index, uint32_t position, image_output const& images,
                               pair_end<Images>& to)
    {
      to.index = index;
      if constexpr (Images) to.image = images.of_target(position);
    }

    /// Reads the candidates of a batch, from its chunks: a warp those of every `warps`-th one. The loads may overtake the
    /// stores.
    template <bool Images>
    __device__ __forceinline__ void
    read_candidates(uint32_t const* batch, int n_chunks, uint32_t const* source_order,
                    image_output const& images, uint32_t const* of_shifts, pair_end<Images>* to,
                    int lane, int warp = 0, int warps = 1)
    {
      uint2 const mine =
          lane < n_chunks ? reinterpret_cast<uint2 const*>(batch)[lane] : make_uint2(0, 0);
      uint32_t const my_image = Images && lane < n_chunks
                                    ? image_output::of_image(of_shifts, batch[2 * n_chunks + lane])
                                    : 0;
      uint32_t const before = sum_before(__popc(mine.y), lane);
#pragma unroll 4
      for (int c = warp; c < n_chunks; c += warps)
      {
        uint32_t const position = __shfl_sync(all_lanes, mine.x, c) + lane;
        uint32_t const kept = __shfl_sync(all_lanes, mine.y, c);
        uint32_t const first = __shfl_sync(all_lanes, before, c);
        uint32_t const image = Images ? __shfl_sync(all_lanes, my_image, c) : 0;
        if (kept >> lane & 1)
        {
          pair_end<Images>& one = to[first + __popc(kept & ((1u << lane) - 1))];
          one.index = __ldg(source_order + position);
          if constexpr (Images) one.image = image + images.of_source(position);
        }
      }
    }

    /// Copies staged pairs [skip, end) to places at + skip ..., where `at` is a multiple of 4, with stores of 16 bytes to
    /// all columns, but of 8 to that of shifts. Bounded: some pairs may have no room, or all no column of i.
    template <image_form Form, bool Bounded>
    __device__ void write_pairs(expand_scratch<Form != image_form::none> const& scratch,
                                uint32_t skip, uint32_t end, pair_columns const& out, uint64_t at,
                                int lane)
    {
      if (Bounded && at + end > out.room)
        end = out.room > at ? static_cast<uint32_t>(out.room - at) : 0;
      struct
      {
        uint32_t i, j, image;
      } pairs[4];
      auto const read = [&](int k, uint32_t staged)
      {
        auto const point = scratch.points[staged >> slot_bits];
        auto const candidate = scratch.candidates[staged & ((1 << slot_bits) - 1)];
        pairs[k] = {point.index, candidate.index, 0};
        if constexpr (Form != image_form::none) pairs[k].image = point.image + candidate.image;
      };
      for (uint32_t t = 4 * lane; t < end; t += 128)
      {
        ushort4 const four = *reinterpret_cast<ushort4 const*>(scratch.staged + t);
        uint32_t const staged[4] = {four.x, four.y, four.z, four.w};
        if (t >= skip && t + 4 <= end)
        {
#pragma unroll
          for (int k = 0; k < 4; ++k) read(k, staged[k]);
          auto const& [a, b, c, d] = pairs;
          if (!Bounded || out.i)
            __stcs(reinterpret_cast<uint4*>(out.i + at + t), make_uint4(a.i, b.i, c.i, d.i));
          __stcs(reinterpret_cast<uint4*>(out.j + at + t), make_uint4(a.j, b.j, c.j, d.j));
          out.images.put<Form>(at + t, make_uint4(a.image, b.image, c.image, d.image));
        }
        else
#pragma unroll
          for (int k = 0; k < 4; ++k)
            if (t + k >= skip && t + k < end)
            {
              read(k, staged[k]);
              if (!Bounded || out.i) __stcs(out.i + at + t + k, pairs[k].i);
              __stcs(out.j + at + t + k, pairs[k].j);
              out.images.put<Form>(at + t + k, pairs[k].image);
            }
      }
    }

    /// Blocks on a multiprocessor: with images, shared memory is for fewer.
    template <image_form Form>
    constexpr int expand_blocks = (Form == image_form::none ? 48 : 40) / expand_warps;

    constexpr int rows_blocks = 48 / expand_warps;

    template <image_form Form, bool Bounded>
    __global__ void __launch_bounds__(expand_threads, expand_blocks<Form>)
        expand_kernel(mask_head const* __restrict__ heads, item_count const items,
                      uint32_t const* __restrict__ masks, uint64_t const* __restrict__ item_offsets,
                      uint32_t const* __restrict__ target_order,
                      uint32_t const* __restrict__ source_order,
                      __grid_constant__ pair_columns const out)
    {
      constexpr bool images = Form != image_form::none;
      __shared__ expand_scratch<images> scratch_of_warp[expand_warps];
      expand_scratch<images>& scratch = scratch_of_warp[threadIdx.x / 32];
      int const lane = threadIdx.x % 32;
      uint32_t const stride = gridDim.x * expand_warps;
      uint32_t const n_items = Bounded ? items.n() : items.most;
      for (uint32_t item = blockIdx.x * expand_warps + threadIdx.x / 32; item < n_items;
           item += stride)
      {
        mask_head const head = heads[item];
        uint64_t at = item_offsets[item];
        if (head.first == no_masks || head.goes_on()) continue;
        int const n_points = head.points(), n_words = head.words(), n_chunks = head.chunks();
        uint32_t const* const item_masks = masks + head.first;
        uint32_t const* const words = item_masks + chunk_words(images) * n_chunks;
        int const n = n_points * n_words;
        uint32_t bits = lane < n ? words[lane] : 0;
        uint32_t const position = head.begin + lane;
        if (lane < n_points)
          read_point(target_order[position], position, out.images, scratch.points[lane]);
        read_candidates(item_masks, n_chunks, source_order, out.images,
                        images ? out.images.of_shifts_around(item) : nullptr, scratch.candidates,
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
            write_pairs<Form, Bounded>(scratch, skip, whole, out, at, lane);
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

    /// Rows that start anywhere have places in a buffer that are as far from a multiple of this as those in memory, so that
    /// a store fills whole sectors, except at the ends of rows: to write a part of one, the device reads it first.
    constexpr uint32_t row_alignment = 8;
    constexpr uint32_t before_row = row_alignment - 1; // the most places between two rows
    /// What is staged in a place between two rows, with any row of the warp: a pair is smaller.
    constexpr uint32_t no_pair = 0x8000;
    /// A warp marks so many places at once, and writes a quarter of these.
    constexpr uint32_t marked = 256, written_at_once = 64;
    constexpr uint32_t most_places =
        (32 * (32 + before_row) + marked - 1) / marked * marked; // of 32 words

    template <bool Images>
    struct __align__(16) rows_scratch
    {
      __align__(16) unsigned short staged[expand_warps][most_places];
      uint64_t row_at[32];    // where the next pair of a row goes
      uint64_t row_begin[32]; // the staged pair t of a row goes to row_begin + t, modulo 2^64
      pair_end<Images> points[32];
      pair_end<Images> candidates[batch_candidates];
    };

    /// The same for rows that start anywhere, or whose entries come from several batches: a block takes an item, and each of
    /// its warps a part of the rows. Bounded: some pairs may have no room, or the host does not know the number of items.
    template <image_form Form, bool Bounded>
    __global__ void __launch_bounds__(expand_threads, rows_blocks)
        expand_rows_kernel(__grid_constant__ row_masks const in,
                           uint32_t const* __restrict__ target_order,
                           uint32_t const* __restrict__ source_order,
                           __grid_constant__ pair_columns const out)
    {
      constexpr bool images = Form != image_form::none;
      __shared__ rows_scratch<images> scratch;
      int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
      unsigned short* const staged = scratch.staged[warp];
      uint32_t const n_items = Bounded ? in.n_items.n() : in.n_items.most;
      for (uint32_t k = blockIdx.x; k < n_items; k += gridDim.x)
      {
        uint32_t const item = in.items ? in.items[k] : k;
        mask_head head = in.heads[item];
        if (head.first == no_masks) continue;
        int const n_points = head.points();
        if (warp == 0)
        {
          bool const is_row = lane < n_points;
          uint32_t const position = head.begin + lane, index = is_row ? target_order[position] : 0;
          if (is_row) read_point(index, position, out.images, scratch.points[lane]);
          if (!in.row_offsets)
            scratch.row_at[lane] = in.item_offsets[item] +
                                   sum_before(is_row ? in.row_of_position[position] : 0u, lane);
          else if (is_row)
            scratch.row_at[lane] = in.row_offsets[index];
        }
        uint32_t const* const of_shifts = images ? out.images.of_shifts_around(item) : nullptr;
        int const rows_of_warp = (n_points + expand_warps - 1) / expand_warps;
        for (;;)
        {
          int const n_words = head.words(), n_chunks = head.chunks();
          uint32_t const* const batch = in.masks + head.first;
          uint32_t const* const words = batch + chunk_words(images) * n_chunks;
          int f0 = warp * rows_of_warp * n_words;
          int const end_of_words = min((warp + 1) * rows_of_warp, n_points) * n_words;
          uint32_t next = f0 + lane < end_of_words ? words[f0 + lane] : 0;
          read_candidates(batch, n_chunks, source_order, out.images, of_shifts, scratch.candidates,
                          lane, warp, expand_warps);
          __syncthreads();
          word_divider const row_of(n_words);
          for (; f0 < end_of_words; f0 += 32)
          {
            int const f = f0 + lane, row = row_of(f), word = f - row * n_words;
            bool const is_word = f < end_of_words;
            uint32_t const bits = next;
            next = f + 32 < end_of_words ? words[f + 32] : 0;
            uint64_t const at = is_word ? scratch.row_at[row] : 0;
            uint32_t const mine = __popc(bits), end = sum_before(mine, lane) + mine;
            int const first_of_row = max(lane - word, 0);
            uint32_t const begin_of_row = __shfl_sync(all_lanes, end - mine, first_of_row);
            uint32_t const end_of_row =
                __shfl_sync(all_lanes, end, min(lane - word + n_words - 1, 31));
            int const first_row = row_of(f0);
            int const n_rows = row_of(min(f0 + 31, end_of_words - 1)) - first_row + 1;
            uint32_t const places = __shfl_sync(all_lanes, end, 31) + before_row * n_rows;
            uint32_t const least = begin_of_row + before_row * (row - first_row),
                           place = least + ((static_cast<uint32_t>(at) - least) & before_row);
            uint32_t const mark = no_pair | first_row << slot_bits, two = mark << 16 | mark;
            for (uint32_t t = 0; t < places; t += marked)
              reinterpret_cast<uint4*>(staged + t)[lane] = make_uint4(two, two, two, two);
            __syncwarp();
            if (is_word && lane == first_of_row)
            {
              scratch.row_at[row] = at + (end_of_row - begin_of_row);
              scratch.row_begin[row] = at - place;
            }
            stage_bits(bits, row << slot_bits | word << 5, staged + place + (end - begin_of_row));
            __syncwarp();
            for (uint32_t t0 = 0; t0 < places; t0 += written_at_once)
            {
              constexpr int n = written_at_once / 32;
              bool is_pair[n];
              uint64_t to[n];
              uint32_t i[n], image[n];
              pair_end<images> candidate[n];
#pragma unroll
              for (int q = 0; q < n; ++q)
              {
                uint32_t const t = t0 + 32 * q + lane, pair = staged[t];
                i[q] = pair >> slot_bits & 31;
                candidate[q] = scratch.candidates[pair & ((1 << slot_bits) - 1)];
                image[q] = 0;
                if constexpr (images) image[q] = candidate[q].image + scratch.points[i[q]].image;
                to[q] = scratch.row_begin[i[q]] + t;
                is_pair[q] = pair < no_pair && (!Bounded || to[q] < out.room);
              }
#pragma unroll
              for (int q = 0; q < n; ++q)
              {
                if (!is_pair[q]) continue;
                __stcs(out.j + to[q], candidate[q].index);
                if (out.i) __stcs(out.i + to[q], scratch.points[i[q]].index);
                out.images.put<Form>(to[q], image[q]);
              }
            }
            __syncwarp();
          }
          __syncthreads();
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

    __global__ void keys_kernel(uint32_t const* i, uint32_t const* j, uint64_t* keys,
                                written_pairs const of, bool smaller_first, unsigned short* shifts,
                                shift_numbers const numbers)
    {
      uint64_t const n = of.n();
      for (uint64_t p = blockIdx.x * uint64_t(simple_threads) + threadIdx.x; p < of.room;
           p += gridDim.x * uint64_t(simple_threads))
      {
        if (p >= n)
        {
          keys[p] = ~uint64_t(0);
          continue;
        }
        uint32_t const a = i[p], b = j[p];
        bool const swap = smaller_first && b < a;
        keys[p] = uint64_t(swap ? b : a) << 32 | (swap ? a : b);
        if (swap && shifts && shifts[p] != 0) // the opposite one
          shifts[p] = static_cast<unsigned short>(numbers.of(a) - shifts[p]);
      }
    }

    __global__ void pairs_kernel(uint64_t const* keys, uint32_t* i, uint32_t* j,
                                 written_pairs const of)
    {
      uint64_t const n = of.n();
      for (uint64_t p = blockIdx.x * uint64_t(simple_threads) + threadIdx.x; p < n;
           p += gridDim.x * uint64_t(simple_threads))
      {
        if (i) i[p] = static_cast<uint32_t>(keys[p] >> 32);
        j[p] = static_cast<uint32_t>(keys[p]);
      }
    }

    /// One warp per row.
    __global__ void rows_kernel(uint64_t const* offsets, uint32_t n_rows, uint32_t* i,
                                uint64_t room)
    {
      uint32_t const stride = gridDim.x * (simple_threads / 32);
      for (uint32_t row = blockIdx.x * (simple_threads / 32) + threadIdx.x / 32; row < n_rows;
           row += stride)
      {
        uint64_t const end = offsets[row + 1] < room ? offsets[row + 1] : room;
        for (uint64_t p = offsets[row] + threadIdx.x % 32; p < end; p += 32) i[p] = row;
      }
    }
  }

  void expand_masks(mask_head const* heads, item_count const& n_items, std::uint32_t const* masks,
                    std::uint64_t const* item_offsets, std::uint32_t const* target_order,
                    std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream)
  {
    if (n_items.most == 0) return;
    unsigned const blocks = blocks_for(n_items.most, expand_warps);
    with_form(out.images.form(),
              [&](auto form)
              {
                bool const is_bounded = out.room != no_bound || !out.i || n_items.found;
                auto* const kernel =
                    is_bounded ? expand_kernel<form(), true> : expand_kernel<form(), false>;
                kernel<<<blocks, expand_threads, 0, stream>>>(heads, n_items, masks, item_offsets,
                                                              target_order, source_order, out);
              });
    check_cuda(cudaGetLastError(), "radius_search: expand_masks");
  }

  void expand_rows(row_masks const& in, std::uint32_t const* target_order,
                   std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream)
  {
    unsigned blocks = in.n_items.most;
    if (blocks == 0) return;
    if (in.n_items.found) blocks = std::min(blocks, rows_blocks * multiprocessors());
    with_form(out.images.form(),
              [&](auto form)
              {
                auto* const kernel = out.room != no_bound || in.n_items.found
                                         ? expand_rows_kernel<form(), true>
                                         : expand_rows_kernel<form(), false>;
                kernel<<<blocks, expand_threads, 0, stream>>>(in, target_order, source_order, out);
              });
    check_cuda(cudaGetLastError(), "radius_search: expand_rows");
  }

  void keys_of_pairs(pair_columns const& pairs, std::uint64_t* keys, written_pairs const& of,
                     bool smaller_first, shift_numbers const& numbers, cuda_stream stream)
  {
    keys_kernel<<<simple_blocks(of.room), simple_threads, 0, stream>>>(
        pairs.i, pairs.j, keys, of, smaller_first, pairs.images.shift, numbers);
    check_cuda(cudaGetLastError(), "radius_search: keys_of_pairs");
  }

  void pairs_of_keys(std::uint64_t const* keys, std::uint32_t* i, std::uint32_t* j,
                     written_pairs const& of, cuda_stream stream)
  {
    pairs_kernel<<<simple_blocks(of.room), simple_threads, 0, stream>>>(keys, i, j, of);
    check_cuda(cudaGetLastError(), "radius_search: pairs_of_keys");
  }

  void rows_of_entries(std::uint64_t const* offsets, std::uint32_t n_rows, std::uint32_t* i,
                       std::uint64_t room, cuda_stream stream)
  {
    if (n_rows == 0) return;
    rows_kernel<<<simple_blocks(std::uint64_t(n_rows) * 32), simple_threads, 0, stream>>>(
        offsets, n_rows, i, room);
    check_cuda(cudaGetLastError(), "radius_search: rows_of_entries");
  }
}
