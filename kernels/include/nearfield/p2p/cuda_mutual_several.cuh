#pragma once

#include <nearfield/p2p/cuda_mutual.cuh>
#include <nearfield/p2p/cuda_several.cuh>

#include <type_traits>

/// \file
/// Mutual P2P of several right-hand sides on a GPU: a warp computes the targets of an item, or a piece of them,
/// and what its sources receive from them.
///
/// Each lane holds R targets, so m = ceil(targets / R) lanes hold them all, and a warp has several such groups. A
/// group takes as many sources as it has lanes. In each of m steps every lane meets another one of them, and what
/// a source receives travels along with it to the next lane: a shuffle for each sum, where adding up
/// over the warp would take four instructions. At the end lane l holds what source l has received, and adds it by
/// atomics, in no fixed order.
///
/// A block is one warp: those of small items, which are cut into fewer pieces, make room for others at once.

namespace nearfield::detail
{
  template <class Source>
  struct padded : Source
  {
    alignas(16) unsigned char padding[16];
  };

  /// The shape of the kernel for B right-hand sides.
  template <class K, class T>
  struct mutual_several
  {
    static constexpr int B =
        right_hand_sides_of_pass(sizeof(T), point_columns<K>, K::n_in, K::n_out, true);
    using columns = several<K, B>;

    static constexpr int words =
        (point_columns<K> + columns::n_in + columns::n_out) * static_cast<int>(sizeof(T)) / 4;
    static constexpr int R = mutual_targets_of_lane(words);
    static constexpr int blocks = mutual_several_blocks_of(words, R);

    /// The most targets of a warp.
    static constexpr int most_targets = 32 * R;
    /// The pieces that an item of a list may be cut into: one more than make two groups of each.
    static constexpr int most_pieces = (mutual_targets_of_item + 16 * R - 1) / (16 * R) + 1;

    /// How many pieces of an item of `count` targets take the least time together: lanes that are in no group are
    /// lost, and a tile costs about two steps besides its own.
    static __device__ index_type pieces_of(index_type count)
    {
      index_type best = 1;
      float least = 1e9F;
      for (index_type pieces = 1; pieces <= most_pieces; ++pieces)
      {
        index_type const m = ((count + pieces - 1) / pieces + R - 1) / R;
        if (m > 32) continue;
        auto const time = static_cast<float>(pieces * (m + 2)) / static_cast<float>(32 / m * m);
        if (time < least) best = pieces;
        least = min(least, time);
      }
      return best;
    }

    /// An odd number of 16 bytes apart: lanes that read one source each do not meet in a bank.
    using source = std::conditional_t<sizeof(tile_source<columns, T>) % 32 == 0,
                                      padded<tile_source<columns, T>>, tile_source<columns, T>>;
    struct memory
    {
      source tile[32];
      index_type place[32]; ///< as in mutual_memory
    };
  };

  /// What the warp computes: targets of one box, the points of their own box, and the other sources, which start
  /// with `others` and go on with the ranges.
  struct mutual_work
  {
    cuda_item item{};
    source_range own, others;
    index_type range = 0, last_range = 0;
    index_type self_begin = 0; ///< the first target among the sources
  };

  /// The work of piece or part `part` of item i. Returns false if there is none.
  template <class Shape, class Job>
  __device__ bool find_work(Job const& job, index_type i, index_type part, mutual_work& work)
  {
    if (job.items)
    {
      if (i >= job.counts().n_items) return false;
      work.item = job.items[i];
      index_type const count = work.item.count, pieces = Shape::pieces_of(count);
      if (part >= pieces) return false;
      index_type const begin = count * part / pieces;
      work.item.first += begin;
      work.item.count = count * (part + 1) / pieces - begin;
      index_type const box = work.item.box;
      work.own = work.others = job.own[box];
      work.others.begin = work.others.end;
      work.range = job.range_offsets[box];
      work.last_range = job.range_offsets[box + 1];
      work.self_begin = work.own.begin + (work.item.first - job.box_offsets[box]);
      return true;
    }
    work.item = job.item(i);
    // an item meets the sources after it, and its own points one-sided, in the first part
    index_type const behind = job.own_is_self ? work.item.first + work.item.count : 0;
    if (job.own_is_self && part == 0) work.own = {.begin = work.item.first, .end = behind};
    index_type const share = (job.n_sources - behind + job.parts - 1) / job.parts;
    work.others.begin = min(behind + part * share, job.n_sources);
    work.others.end = min(work.others.begin + share, job.n_sources);
    work.self_begin = work.item.first;
    return true;
  }

  template <class K, class T, class Columns>
  __global__ void __launch_bounds__(32, mutual_several<K, T>::blocks)
      mutual_several_kernel(__grid_constant__ device_job<Columns, T> const job,
                            __grid_constant__ K const k)
  {
    using shape = mutual_several<K, T>;
    constexpr int R = shape::R, B = shape::B;
    constexpr index_type halo = index_type(1) << 31;
    // long sums of floats lose digits
    constexpr index_type most_tiles = sizeof(T) == 4 ? 32 : ~index_type(0);
    __shared__ typename shape::memory memory;
    index_type const lane = threadIdx.x;
    mutual_work work;
    if (!find_work<shape>(job, blockIdx.x, blockIdx.y, work)) return;

    index_type const first = work.item.first, count = work.item.count;
    index_type const m = (count + R - 1) / R, groups = 32 / m;
    index_type const group = lane / m, column = lane - group * m;
    bool const active = group < groups;
    mutual_targets<Columns, T, R> targets;
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r)
    {
      index_type const t = column + r * m;
      index_type const i = first + min(t, count - 1);
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) targets.x[r][d] = job.targets.x[d][i];
      NEARFIELD_UNROLL
      for (int c = 0; c < Columns::n_in; ++c)
        targets.q[r][c] = t < count ? job.targets.q[c][i] : T(0);
      targets.out[r] = {};
    }

    // one-sided: unlike the points of other boxes, those of the own box may coincide with targets
    source_feed<Columns, T> feed(job, work.others, work.others.end, work.others.end, work.range,
                                 work.last_range);
    bool const tested = job.tests_own_points();
    for (index_type from = work.own.begin; from < work.own.end; from += 32)
    {
      index_type const n = min(work.own.end - from, index_type(32));
      if (lane < n) feed.load(memory.tile[lane], from + lane);
      __syncwarp();
      if (active)
        sweep_several<true, 1, B>(k, targets.x, targets.out, memory.tile, group, groups, n,
                                  column + work.self_begin - from, m, tested);
      __syncwarp();
    }

    // lanes of no group meet the first source, and their results are discarded
    index_type const begin = active ? group * m : 0, last = active ? begin + m - 1 : 0;
    int const next = static_cast<int>(!active ? lane : lane == last ? begin : lane + 1);
    auto const place = [&](index_type at, index_type source)
    {
      memory.place[at] = feed.in_halo() ? halo | (feed.halo_begin() + source) : source;
    };
    int const outputs = job.n_rhs * K::n_out;
    for (index_type tiles = 1;; ++tiles)
    {
      index_type const filled = feed.fill(memory.tile, m * groups, lane, 32, place);
      if (filled == 0 || tiles % most_tiles == 0)
      {
        // a first target that the compiler does not know: it would keep all addresses in registers
        index_type from = first;
        asm volatile("" : "+r"(from));
        NEARFIELD_UNROLL
        for (int r = 0; r < R; ++r)
        {
          index_type const t = column + r * m;
          NEARFIELD_UNROLL
          for (int o = 0; o < Columns::n_out; ++o)
            if (active && t < count && o < outputs)
              atomicAdd(job.out[o] + from + t, targets.out[r][o]);
          targets.out[r] = {};
        }
      }
      if (filled == 0) break;
      __syncwarp();
      // a partial tile repeats its last source, with q = 0
      if (lane >= filled && active)
      {
        memory.tile[lane] = memory.tile[filled - 1];
        NEARFIELD_UNROLL
        for (int c = 0; c < Columns::n_in; ++c)
          memory.tile[lane].value[point_columns<K> + c] = T(0);
      }
      __syncwarp();
      vec<T, Columns::n_out> received{};
      index_type at = active ? lane : 0;
#pragma unroll 1
      for (index_type step = 0; step < m; ++step)
      {
        auto const source = memory.tile[at];
        NEARFIELD_UNROLL
        for (int r = 0; r < R; ++r)
          meet_several<true, true, B>(k, between<K>(targets.x[r], source.x()), false, tested,
                                      source.q(), targets.out[r], targets.q[r], received);
        NEARFIELD_UNROLL
        for (int o = 0; o < Columns::n_out; ++o) received[o] = __shfl_sync(~0u, received[o], next);
        at = at == last ? begin : at + 1;
      }
      if (lane < filled)
      {
        index_type const to = memory.place[lane];
        NEARFIELD_UNROLL
        for (int o = 0; o < Columns::n_out; ++o)
          if (o < outputs)
            atomicAdd((to & halo ? job.halo[o] : job.out[o]) + (to & ~halo), received[o]);
      }
      __syncwarp();
    }
  }
}
