#pragma once

#include <nearfield/p2p/cuda_source.cuh>
#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/tuning.hpp>

/// \file
/// Mutual P2P on a GPU: a warp computes the targets of an item, and what its sources receive from them.
///
/// Each lane holds R targets in registers and, for a block of sources, what these receive from its targets. A
/// transposing butterfly adds that up over the warp, and one atomic per source adds it to the output. The
/// order of the atomics is not fixed: results repeat to within rounding.

namespace nearfield::detail
{
  /// Adds up values[j] over each group of Count lanes: lane l gets sum number l modulo Count. It takes Count
  /// - 1 exchanges. A recursion, so that every index is a constant.
  template <int Half, class T, int Count>
  __device__ __forceinline__ void fold(T (&values)[Count], index_type lane)
  {
    if constexpr (Half >= 1)
    {
      bool const upper = lane & Half;
      NEARFIELD_UNROLL
      for (int j = 0; j < Half; ++j)
      {
        T const give = upper ? values[j] : values[j + Half];
        T const keep = upper ? values[j + Half] : values[j];
        values[j] = keep + __shfl_xor_sync(~0u, give, Half);
      }
      fold<Half / 2>(values, lane);
    }
  }

  template <class T, int Count>
  __device__ __forceinline__ T transposed_sum(T (&values)[Count], index_type lane)
  {
    fold<Count / 2>(values, lane);
    T sum = values[0];
    NEARFIELD_UNROLL
    for (int distance = Count; distance < 32; distance *= 2)
      sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
  }

  template <class K, class T, int R>
  struct mutual_targets
  {
    vec<T, point_columns<K>> x[R];
    vec<T, K::n_in> q[R];
    vec<T, K::n_out> out[R];
  };

  /// The targets of all lanes meet Count sources; `back` of lane l is what source l modulo Count receives.
  template <bool Tested, int Count, class K, class T, int R>
  __device__ __forceinline__ void meet_sources(K const& k, mutual_targets<K, T, R>& targets,
                                               tile_source<K, T> const* tile, index_type lane,
                                               vec<T, K::n_out>& back)
  {
    T sums[K::n_out][Count];
    NEARFIELD_UNROLL
    for (int j = 0; j < Count; ++j)
    {
      tile_source<K, T> const source = tile[j];
      vec<T, K::n_out> sum;
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o) sum[o] = T(0);
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
        interact<true, Tested>(k, between<K>(targets.x[r], source.x()), source.q(), targets.out[r],
                               targets.q[r], sum);
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o) sums[o][j] = sum[o];
    }
    NEARFIELD_UNROLL
    for (int o = 0; o < K::n_out; ++o) back[o] = transposed_sum(sums[o], lane);
  }

  /// Loads the targets [first, first + count) into the lanes; lanes left over repeat the last one, with q = 0.
  template <class K, class T, int R>
  __device__ void load_targets(device_job<K, T> const& job, mutual_targets<K, T, R>& targets,
                               index_type first, index_type count, index_type lane)
  {
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r)
    {
      index_type const t = lane + 32 * r;
      index_type const i = first + min(t, count - 1);
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) targets.x[r][d] = job.targets.x[d][i];
      NEARFIELD_UNROLL
      for (int c = 0; c < K::n_in; ++c) targets.q[r][c] = t < count ? job.targets.q[c][i] : T(0);
      targets.out[r] = {};
    }
  }

  /// Adds what the targets have received to the output, and clears it.
  template <class K, class T, int R>
  __device__ void add_targets(device_job<K, T> const& job, mutual_targets<K, T, R>& targets,
                              index_type first, index_type count, index_type lane)
  {
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r)
    {
      if (index_type const t = lane + 32 * r; t < count)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o) atomicAdd(job.out[o] + first + t, targets.out[r][o]);
      }
      targets.out[r] = {};
    }
  }

  /// The targets meet n points of their own box, one-sided; source j is target j + ahead.
  template <class K, class T, int R>
  __device__ void meet_own_points(K const& k, device_job<K, T> const& job,
                                  mutual_targets<K, T, R>& targets, tile_source<K, T> const* tile,
                                  index_type n, index_type lane, index_type ahead)
  {
    constexpr int unroll = mutual_own_unroll(sizeof(T), K::n_out, radial_interaction<K>);
    // for a singular interaction, the test leaves out the target itself too
    if (job.singular)
      sweep_tile<true, unroll>(k, targets.x, targets.out, tile, 0, 1, n);
    else
      sweep_tile_with_care(k, targets.x, targets.out, tile, 0, 1, n, lane - ahead, 32,
                           job.tests_own_points());
  }

  template <class K, class T>
  struct mutual_memory
  {
    tile_source<K, T> tile[32];
    index_type place[32]; ///< of each source in the output or, with the top bit set, in the halo
  };

  template <bool Tested, int R, class K, class T>
  __device__ void mutual_item(K const& k, device_job<K, T> const& job, cuda_item const& item,
                              mutual_memory<K, T>& memory)
  {
    constexpr int count = mutual_block_of(sizeof(T), K::n_out, false);
    constexpr index_type halo = index_type(1) << 31;
    // long sums of floats lose digits
    constexpr index_type most_tiles = sizeof(T) == 4 ? 32 : ~index_type(0);
    index_type const lane = threadIdx.x % 32;

    mutual_targets<K, T, R> targets;
    load_targets(job, targets, item.first, item.count, lane);

    // the points of the own box, one-sided: unlike those of other boxes they may coincide with targets
    source_range const own = job.own[item.box];
    source_feed<K, T> feed(job, own, own.begin, own.end, job.range_offsets[item.box],
                           job.range_offsets[item.box + 1]);
    index_type const self_begin = own.begin + (item.first - job.box_offsets[item.box]);
    for (index_type from = own.begin; from < own.end; from += 32)
    {
      index_type const n = min(own.end - from, index_type(32));
      if (lane < n) feed.load(memory.tile[lane], from + lane);
      __syncwarp();
      meet_own_points(k, job, targets, memory.tile, n, lane, from - self_begin);
      __syncwarp();
    }

    index_type tiles = 0;
    while (
        index_type const filled = feed.fill(
            memory.tile, 32, lane, 32, [&](index_type at, index_type source)
            { memory.place[at] = feed.in_halo() ? halo | (feed.halo_begin() + source) : source; }))
    {
      __syncwarp();
      // a partial block repeats its last source, with q = 0
      if (lane >= filled)
      {
        memory.tile[lane] = memory.tile[filled - 1];
        NEARFIELD_UNROLL
        for (int c = 0; c < K::n_in; ++c) memory.tile[lane].value[point_columns<K> + c] = T(0);
      }
      __syncwarp();
      // lane l keeps what source l receives
      vec<T, K::n_out> received;
#pragma unroll 1
      for (index_type from = 0; from < filled; from += count)
      {
        vec<T, K::n_out> back;
        meet_sources<Tested, count>(k, targets, memory.tile + from, lane, back);
        if (lane / count == from / count) received = back;
      }
      if (lane < filled)
      {
        index_type const place = memory.place[lane];
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o)
          atomicAdd((place & halo ? job.halo[o] : job.out[o]) + (place & ~halo), received[o]);
      }
      __syncwarp();
      if (++tiles % most_tiles == 0) add_targets(job, targets, item.first, item.count, lane);
    }

    add_targets(job, targets, item.first, item.count, lane);
  }

  /// Tested: pairs at distance zero may be in the ranges too.
  template <bool Tested, class K, class T>
  __global__ void __launch_bounds__(mutual_threads)
      mutual_kernel(__grid_constant__ device_job<K, T> const job, __grid_constant__ K const k)
  {
    __shared__ mutual_memory<K, T> memory[mutual_threads / 32];
    index_type const warp = threadIdx.x / 32;
    index_type const i = blockIdx.x * (mutual_threads / 32) + warp;
    if (i >= job.counts().n_items) return;
    cuda_item const item = job.items[i];
    if (item.count <= 32)
      mutual_item<Tested, 1>(k, job, item, memory[warp]);
    else if (item.count <= 64)
      mutual_item<Tested, 2>(k, job, item, memory[warp]);
    else if (item.count <= 96 && !Tested)
      mutual_item<Tested, 3>(k, job, item, memory[warp]);
    else
      mutual_item<Tested, 4>(k, job, item, memory[warp]);
  }
}
