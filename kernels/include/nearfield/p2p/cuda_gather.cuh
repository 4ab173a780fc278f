#pragma once

#include <nearfield/p2p/cuda_source.cuh>
#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <cooperative_groups.h>

/// \file
/// One-sided P2P on a GPU. A team of threads computes the targets of an item: a block if they are many, half
/// a block or a warp otherwise.
///
/// The sources pass through a tile in shared memory. A thread holds R targets in registers. With m = ceil(targets
/// / R), threads t, t + m, t + 2 m ... hold the same targets and share the sources among them, so that boxes of
/// any size fill the team. Their sums are added in a fixed order: the result is deterministic. The parts of an
/// item are blocks of a cluster, which add up their sums through their shared memories.

namespace nearfield::detail
{
  /// The threads that compute one item: a warp, half a block or a block.
  template <int Threads>
  struct team
  {
    static_assert(Threads == 32 || Threads == 64 || Threads >= gather_threads);

    static __device__ index_type thread() { return threadIdx.x % Threads; }

    static __device__ void sync()
    {
      if constexpr (Threads == 32)
        __syncwarp();
      else if constexpr (Threads >= gather_threads)
        __syncthreads();
      else if (threadIdx.x < Threads)
        sync_half<1>();
      else
        sync_half<2>();
    }

    static __device__ bool any(bool mine)
    {
      if constexpr (Threads == 32)
        return __any_sync(~0u, mine);
      else if constexpr (Threads >= gather_threads)
        return __syncthreads_or(mine);
      else
        return threadIdx.x < Threads ? any_of_half<1>(mine) : any_of_half<2>(mine);
    }

  private:
    // Each barrier has a constant number: for a variable one the compiler would reserve all 16, and few
    // blocks would fit on a multiprocessor. Barrier 0 is that of the block.
    static_assert(2 * 64 == gather_threads);

    template <int Barrier>
    static __device__ void sync_half()
    {
      asm volatile("bar.sync %0, %1;" ::"n"(Barrier), "n"(Threads) : "memory");
    }

    template <int Barrier>
    static __device__ bool any_of_half(bool mine)
    {
      unsigned any = mine;
      asm volatile("{ .reg .pred mine, any; setp.ne.u32 mine, %0, 0;"
                   " bar.red.or.pred any, %1, %2, mine; selp.u32 %0, 1, 0, any; }"
                   : "+r"(any)
                   : "n"(Barrier), "n"(Threads)
                   : "memory");
      return any;
    }
  };

  /// to += sums; sums = 0.
  template <class V, int R>
  __device__ void flush(V (&sums)[R], V (&to)[R])
  {
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r) to[r] += sums[r];
    clear(sums);
  }

  template <class K, class T, int Threads, int R>
  struct gather_memory
  {
    static constexpr int tile_size =
        Threads * gather_tile_bytes / static_cast<int>(sizeof(tile_source<K, T>));
    union {
      tile_source<K, T> tile[tile_size];
      T sums[R * Threads * K::n_out];
    };
    __device__ gather_memory() {}
  };

  /// The own range of part `part` of an item, its ranges, and the place of its own points among the sources.
  struct own_points_of_item
  {
    source_range own;
    index_type range = 0, last_range = 0;
    index_type self_begin, self_end; ///< of those in the own range
    index_type skipped = 0;          ///< how many of them lie in parts before this one

    template <class K, class T>
    __device__ own_points_of_item(device_job<K, T> const& job, cuda_item const& item,
                                  index_type part)
    {
      index_type box_begin = 0;
      if (job.items)
      {
        own = job.own[item.box];
        box_begin = job.box_offsets[item.box];
        range = job.range_offsets[item.box];
        last_range = job.range_offsets[item.box + 1];
      }
      else
      {
        index_type const share = (job.n_sources + job.parts - 1) / job.parts;
        own.begin = min(part * share, job.n_sources);
        own.end = min(own.begin + share, job.n_sources);
      }
      index_type const whole_begin = job.items ? own.begin : 0;
      self_begin = self_end = own.end;
      if (job.own_is_self)
      {
        index_type const begin = whole_begin + (item.first - box_begin);
        self_begin = min(max(begin, own.begin), own.end);
        self_end = min(max(begin + item.count, own.begin), own.end);
        skipped = self_begin - begin;
      }
    }

    template <class K, class T>
    __device__ source_feed<K, T> others(device_job<K, T> const& job) const
    {
      return {job, own, self_begin, self_end, range, last_range};
    }
  };

  /// The sums of one item over part `part` of its sources.
  template <int R, int Threads, class K, class T>
  __device__ void gather_item(K const& k, device_job<K, T> const& job, cuda_item const& item,
                              index_type part, gather_memory<K, T, Threads, R>& memory)
  {
    using members = team<Threads>;
    static_assert(
        sizeof(tile_source<K, T>) <= gather_tile_bytes,
        "the points of an item must fit into a tile: fewer inputs, or a larger gather_tile_bytes");
    // past the end of any tile, even with multiples of m added to it
    constexpr index_type nowhere = index_type(1) << 30;
    // where registers are scarce: a loop that is not unrolled needs fewer
    constexpr bool unrolls_tests = Threads > gather_threads;
    index_type const thread = members::thread();
    index_type const m = (item.count + R - 1) / R;
    index_type const splits =
        min(Threads / m, index_type(gather_memory<K, T, Threads, R>::tile_size));
    index_type const split = thread / m;
    index_type const column = thread - split * m;
    bool const active = split < splits;

    vec<T, point_columns<K>> x[R];
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r)
    {
      index_type const i = item.first + min(column + r * m, item.count - 1);
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) x[r][d] = job.targets.x[d][i];
    }

    own_points_of_item const place(job, item, part);

    vec<T, K::n_out> out[R], sum[R];
    for (bool tested = job.always_tests;;)
    {
      clear(out);
      clear(sum);
      auto feed = place.others(job);
      // the item's own points first, then tile after tile
      for (bool own_points = place.self_begin < place.self_end;; own_points = false)
      {
        index_type filled = place.self_end - place.self_begin;
        if (own_points)
          for (index_type j = thread; j < filled; j += Threads)
            feed.load(memory.tile[j], place.self_begin + j);
        else
          filled = feed.fill(memory.tile, gather_memory<K, T, Threads, R>::tile_size, thread,
                             Threads, [](index_type, index_type) {});
        if (filled == 0) break;
        members::sync();
        if (active && !own_points && !tested)
          sweep_tile<false, 4>(k, x, sum, memory.tile, split, splits, filled);
        else if (active && unrolls_tests && (!own_points || job.singular))
          sweep_tile<true, 4>(k, x, sum, memory.tile, split, splits, filled);
        else if (active)
          sweep_tile_with_care(k, x, sum, memory.tile, split, splits, filled,
                               own_points ? column - place.skipped : nowhere, m,
                               tested || job.tests_own_points());
        // long sums of floats lose digits
        if constexpr (sizeof(T) == 4) flush(sum, out);
        members::sync();
      }
      flush(sum, out);
      // a pair at distance zero has left an infinity or a NaN: repeat with the test
      if (tested || !job.singular) break;
      T all = T(0);
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o) all += out[r][o];
      }
      if (!members::any(active && !is_finite(all))) break;
      tested = true;
    }

    index_type const values = K::n_out * item.count;
    if (active)
    {
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
        if (index_type const i = column + r * m; i < item.count)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < K::n_out; ++o)
            memory.sums[split * values + o * item.count + i] = out[r][o];
        }
    }
    members::sync();
    for (index_type v = thread; v < values; v += Threads)
    {
      T sum = memory.sums[v];
      for (index_type s = 1; s < splits; ++s) sum += memory.sums[s * values + v];
      memory.sums[v] = sum;
    }
#if __CUDA_ARCH__ >= 900
    if (job.parts > 1)
    {
      auto const cluster = cooperative_groups::this_cluster();
      cluster.sync();
      if (part == 0)
        for (index_type v = thread; v < values; v += Threads)
        {
          T sum = memory.sums[v];
          for (index_type p = 1; p < job.parts; ++p)
            sum += *cluster.map_shared_rank(&memory.sums[v], p);
          memory.sums[v] = sum;
        }
      cluster.sync();
      if (part != 0) return;
    }
#endif
    // each thread writes what it has summed
    for (index_type v = thread; v < values; v += Threads)
      job.out[v / item.count][item.first + v % item.count] += memory.sums[v];
  }

  /// An item of a list, computed by a team of `Threads` threads with R targets each. The memory of the block
  /// is divided equally among its teams, whose R may differ.
  template <int R, int Threads, class K, class T>
  __device__ void gather_item_of_team(K const& k, device_job<K, T> const& job,
                                      cuda_item const& item, unsigned char* memory)
  {
    using widest = gather_memory<K, T, Threads, gather_most_per_thread(K::n_out)>;
    static_assert(R <= gather_most_per_thread(K::n_out));
    unsigned char* const mine = memory + threadIdx.x / Threads * sizeof(widest);
    gather_item<R, Threads>(k, job, item, 0,
                            *reinterpret_cast<gather_memory<K, T, Threads, R>*>(mine));
  }

  /// The blocks that compute one large box.
  template <class K, class T>
  struct gather_box
  {
    static constexpr int threads = gather_block_of_box(sizeof(T), K::n_out).threads;
    static constexpr int targets = gather_block_of_box(sizeof(T), K::n_out).targets;
    using memory = gather_memory<K, T, threads, targets>;
  };

  /// One large box: each block computes a part of an item.
  template <class K, class T>
  __global__ void __launch_bounds__(gather_box<K, T>::threads)
      gather_box_kernel(__grid_constant__ device_job<K, T> const job, __grid_constant__ K const k)
  {
    using box = gather_box<K, T>;
    __shared__ typename box::memory memory;
    cuda_item const item = job.item(blockIdx.x / job.parts);
    gather_item<box::targets, box::threads>(k, job, item, blockIdx.x % job.parts, memory);
  }

  template <class K, class T>
  __global__ void __launch_bounds__(gather_threads, gather_blocks_of(sizeof(T), K::n_out))
      gather_kernel(__grid_constant__ device_job<K, T> const job, __grid_constant__ K const k)
  {
    constexpr int most = gather_most_per_thread(K::n_out);
    __shared__ alignas(16) unsigned char memory[sizeof(gather_memory<K, T, gather_threads, most>)];
    static_assert(sizeof(memory) >= 2 * sizeof(gather_memory<K, T, 64, most>) &&
                  sizeof(memory) >= 4 * sizeof(gather_memory<K, T, 32, most>));

    index_type const block = blockIdx.x;
    auto const [n_wide, n_medium, n_items] = job.counts();
    index_type const halves = (n_medium + 1) / 2;
    if (block < n_wide)
      gather_item_of_team<most, gather_threads>(k, job, job.items[block], memory);
    else if (block < n_wide + halves)
    {
      index_type const i = 2 * (block - n_wide) + threadIdx.x / 64;
      if (i >= n_medium) return;
      cuda_item const item = job.items[n_wide + i];
      if (item.count > gather_few_targets)
        gather_item_of_team<most, 64>(k, job, item, memory);
      else
        gather_item_of_team<2, 64>(k, job, item, memory);
    }
    else
    {
      index_type const i =
          n_wide + n_medium + (block - n_wide - halves) * (gather_threads / 32) + threadIdx.x / 32;
      if (i < n_items) gather_item_of_team<2, 32>(k, job, job.items[i], memory);
    }
  }
}
