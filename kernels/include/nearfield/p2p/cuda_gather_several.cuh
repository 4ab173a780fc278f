#pragma once

#include <nearfield/p2p/cuda_gather.cuh>
#include <nearfield/p2p/cuda_several.cuh>

#include <algorithm>
#include <bit>

/// \file
/// One-sided P2P of several right-hand sides on a GPU: as gather_item, but one kernel serves lists and single
/// boxes, and a team is chosen at run time, so that the loop over pairs is compiled once.

namespace nearfield::detail
{
  /// A team of 32, 64 or all threads of a block.
  struct team_of_threads
  {
    index_type threads;

    [[nodiscard]] __device__ index_type thread() const { return threadIdx.x % threads; }

    __device__ void sync() const
    {
      if (threads == 32)
        team<32>::sync();
      else if (threads == 64)
        team<64>::sync();
      else
        team<gather_threads>::sync();
    }

    [[nodiscard]] __device__ bool any(bool mine) const
    {
      return threads == 32   ? team<32>::any(mine)
             : threads == 64 ? team<64>::any(mine)
                             : team<gather_threads>::any(mine);
    }
  };

  /// The shape of the kernel for B right-hand sides.
  template <class K, class T>
  struct gather_several
  {
    static constexpr int B =
        right_hand_sides_of_pass(sizeof(T), point_columns<K>, K::n_in, K::n_out, false);
    using columns = several<K, B>;
    using source = tile_source<columns, T>;
    static_assert(sizeof(source) <= gather_tile_bytes);

    // floats are added up twice: in a tile, and over all tiles
    static constexpr int words = (point_columns<K> + (sizeof(T) == 4 ? 2 : 1) * columns::n_out) *
                                 static_cast<int>(sizeof(T)) / 4;
    // the sums of one right-hand side must fit into the tile
    static constexpr int most_sums = gather_tile_bytes / static_cast<int>(sizeof(T));
    static constexpr int R = std::min(gather_targets_of_thread(words), most_sums / K::n_out);
    static_assert(R > 0);

    /// The right-hand sides whose sums fit into the tile of a team at a time.
    static constexpr int at_a_time = static_cast<int>(
        std::bit_floor(static_cast<unsigned>(std::min(B, most_sums / (R * K::n_out)))));
  };

  /// The sums of one item over part `part` of its sources. `memory` is that of the team.
  template <class K, class T, class Columns>
  __device__ void gather_several_item(K const& k, device_job<Columns, T> const& job,
                                      cuda_item const& item, index_type part, team_of_threads team,
                                      unsigned char* memory)
  {
    using shape = gather_several<K, T>;
    constexpr int R = shape::R, B = shape::B;
    // past the end of any tile, even with multiples of m added to it
    constexpr index_type nowhere = index_type(1) << 30;
    auto* const tile = reinterpret_cast<typename shape::source*>(memory);
    index_type const capacity = team.threads * gather_tile_bytes / sizeof(typename shape::source);
    index_type const thread = team.thread();
    index_type const m = (item.count + R - 1) / R;
    index_type const splits = team.threads / m;
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
    vec<T, B * K::n_out> out[R], sum[R];
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
          for (index_type j = thread; j < filled; j += team.threads)
            feed.load(tile[j], place.self_begin + j);
        else
          filled = feed.fill(tile, capacity, thread, team.threads, [](index_type, index_type) {});
        if (filled == 0) break;
        team.sync();
        if (active && !own_points && !tested)
          sweep_several<false, 2, B>(k, x, sum, tile, split, splits, filled, nowhere, m, false);
        else if (active)
          sweep_several<true, 1, B>(k, x, sum, tile, split, splits, filled,
                                    own_points ? column - place.skipped : nowhere, m,
                                    tested || job.tests_own_points());
        // long sums of floats lose digits
        if constexpr (sizeof(T) == 4) flush(sum, out);
        team.sync();
      }
      flush(sum, out);
      // a pair at distance zero has left an infinity or a NaN in all right-hand sides: repeat with the test
      if (tested || !job.singular) break;
      T all = T(0);
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o) all += out[r][o];
      }
      if (!team.any(active && !is_finite(all))) break;
      tested = true;
    }

    constexpr int at_a_time = shape::at_a_time;
    auto* const sums = reinterpret_cast<T*>(memory);
    NEARFIELD_UNROLL
    for (int rhs = 0; rhs < B; rhs += at_a_time)
    {
      constexpr int outputs = at_a_time * K::n_out;
      if (rhs >= job.n_rhs) break;
      if (rhs > 0) team.sync();
      if (active)
      {
        NEARFIELD_UNROLL
        for (int r = 0; r < R; ++r)
          if (index_type const i = column + r * m; i < item.count)
          {
            NEARFIELD_UNROLL
            for (int o = 0; o < outputs; ++o)
              sums[(split * outputs + o) * item.count + i] = out[r][rhs * K::n_out + o];
          }
      }
      team.sync();
      index_type const values = min(at_a_time, job.n_rhs - rhs) * K::n_out * item.count;
      for (index_type v = thread; v < values; v += team.threads)
      {
        T value = sums[v];
        for (index_type s = 1; s < splits; ++s) value += sums[s * outputs * item.count + v];
        sums[v] = value;
      }
#if __CUDA_ARCH__ >= 900
      if (job.parts > 1)
      {
        auto const cluster = cooperative_groups::this_cluster();
        cluster.sync();
        if (part == 0)
          for (index_type v = thread; v < values; v += team.threads)
          {
            T value = sums[v];
            for (index_type p = 1; p < job.parts; ++p)
              value += *cluster.map_shared_rank(&sums[v], p);
            sums[v] = value;
          }
        cluster.sync();
        if (part != 0) continue;
      }
#endif
      // each thread writes what it has summed
      for (index_type v = thread; v < values; v += team.threads)
        job.out[rhs * K::n_out + v / item.count][item.first + v % item.count] += sums[v];
    }
  }

  /// The items of a list, by teams as in gather_kernel, or the parts of the items of one box.
  template <class K, class T, class Columns>
  __global__ void __launch_bounds__(gather_threads, gather_several_blocks_of(sizeof(T), K::n_out))
      gather_several_kernel(__grid_constant__ device_job<Columns, T> const job,
                            __grid_constant__ K const k)
  {
    __shared__ alignas(16) unsigned char memory[gather_threads * gather_tile_bytes];
    index_type const block = blockIdx.x / job.parts;
    auto const [n_wide, n_medium, n_items] = job.counts();
    index_type const halves = (n_medium + 1) / 2;
    team_of_threads team{gather_threads};
    index_type i = block, end = n_wide;
    if (block >= n_wide)
    {
      bool const is_medium = block < n_wide + halves;
      team.threads = is_medium ? 64 : 32;
      index_type const before = n_wide + (is_medium ? 0 : n_medium);
      index_type const blocks_before = n_wide + (is_medium ? 0 : halves);
      i = before + (block - blocks_before) * (gather_threads / team.threads) +
          threadIdx.x / team.threads;
      end = is_medium ? n_wide + n_medium : n_items;
    }
    if (i >= end) return;
    gather_several_item(k, job, job.item(i), blockIdx.x % job.parts, team,
                        memory + threadIdx.x / team.threads * team.threads * gather_tile_bytes);
  }
}
