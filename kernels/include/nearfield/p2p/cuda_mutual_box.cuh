#pragma once

#include <nearfield/p2p/cuda_mutual.cuh>

/// \file
/// Mutual P2P of one large box with itself, or with another, on a GPU: a block lets its piece of the targets
/// meet the sources after it, one tile at a time. The order of the atomics is not fixed.

namespace nearfield::detail
{
  /// As meet_sources, where pairs at distance zero may occur: if they have left an infinity or a NaN in a
  /// sum, the sources are met again, with the test.
  template <int Count, class K, class T, int R>
  __device__ __forceinline__ void
  meet_sources_checked(K const& k, device_job<K, T> const& job, mutual_targets<K, T, R>& targets,
                       tile_source<K, T> const* tile, index_type lane, vec<T, K::n_out>& back)
  {
    mutual_targets<K, T, R> block = targets;
    clear(block.out);
    bool again = job.always_tests;
    if (!again)
    {
      meet_sources<false, Count>(k, block, tile, lane, back);
      T sum = T(0);
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o) sum += back[o];
      again = job.singular && __any_sync(~0u, !is_finite(sum));
    }
    if (again)
    {
      clear(block.out);
      meet_sources<true, Count>(k, block, tile, lane, back);
    }
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r) targets.out[r] += block.out[r];
  }

  template <class K, class T>
  struct mutual_box_memory
  {
    static constexpr int warps = mutual_threads / 32;
    tile_source<K, T> tile[mutual_threads];
    T sums[K::n_out][warps][mutual_threads];
  };

  template <class K, class T>
  __global__ void __launch_bounds__(mutual_threads)
      mutual_box_kernel(__grid_constant__ device_job<K, T> const job, __grid_constant__ K const k)
  {
    using memory_type = mutual_box_memory<K, T>;
    constexpr int R = mutual_targets_of_item / 32;
    constexpr int count = mutual_block_of(sizeof(T), K::n_out, true);
    // long sums of floats lose digits
    constexpr index_type most_tiles = sizeof(T) == 4 ? 32 : ~index_type(0);
    __shared__ memory_type memory;
    index_type const thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    cuda_item const item = job.item(blockIdx.x / job.parts);
    index_type const part = blockIdx.x % job.parts;

    // a warp without targets repeats the last one
    index_type const before = min(warp * mutual_targets_of_item, item.count);
    index_type const mine = min(item.count - before, index_type(mutual_targets_of_item));
    index_type const first = item.first + before;
    mutual_targets<K, T, R> targets;
    load_targets(job, targets, mine > 0 ? first : first - 1, max(mine, index_type(1)), lane);
    if (mine == 0)
    {
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r) targets.q[r] = {};
    }

    device_sources<K, T> const& sources = job.sources[0];
    auto const load = [&](index_type j)
    {
      tile_source<K, T>& to = memory.tile[thread];
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) to.value[d] = sources.x[d][j];
      NEARFIELD_UNROLL
      for (int c = 0; c < K::n_in; ++c) to.value[point_columns<K> + c] = sources.q[c][j];
    };
    // sources from `all` on; the item's own points come first
    index_type const all = job.own_is_self ? item.first : 0;
    index_type const behind = job.own_is_self ? item.first + item.count : 0;
    index_type const tiles_of_part =
        ((job.n_sources - all + mutual_threads - 1) / mutual_threads + job.parts - 1) / job.parts;
    index_type const share = tiles_of_part * mutual_threads;
    index_type from = min(all + part * share, job.n_sources);
    index_type const end = min(from + share, job.n_sources);
    for (; from < min(behind, end); from += mutual_threads)
    {
      index_type const n = min(behind - from, index_type(mutual_threads));
      load(min(from + thread, behind - 1));
      __syncthreads();
      meet_own_points(k, job, targets, memory.tile, n, lane, from - first);
      __syncthreads();
    }
    // only the last piece has a partial tile of own points, and no sources come after it
    index_type tiles = 0;
    for (; from < end; from += mutual_threads)
    {
      // a partial tile repeats its last source, with q = 0
      load(min(from + thread, end - 1));
      if (from + thread >= end)
      {
        NEARFIELD_UNROLL
        for (int c = 0; c < K::n_in; ++c) memory.tile[thread].value[point_columns<K> + c] = T(0);
      }
      __syncthreads();
#pragma unroll 1
      for (index_type at = 0; at < mutual_threads; at += count)
      {
        vec<T, K::n_out> back;
        meet_sources_checked<count>(k, job, targets, memory.tile + at, lane, back);
        if (lane < count)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < K::n_out; ++o) memory.sums[o][warp][at + lane] = back[o];
        }
      }
      __syncthreads();
      if (from + thread < end)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o)
        {
          T sum = memory.sums[o][0][thread];
          NEARFIELD_UNROLL
          for (int w = 1; w < memory_type::warps; ++w) sum += memory.sums[o][w][thread];
          atomicAdd((job.own_is_self ? job.out[o] : job.halo[o]) + from + thread, sum);
        }
      }
      if (++tiles % most_tiles == 0) add_targets(job, targets, first, mine, lane);
    }
    add_targets(job, targets, first, mine, lane);
  }
}
