#pragma once

#include "../keys.hpp"
#include "../leaves.hpp"
#include "launch.cuh"
#include "starts.cuh"
#include "tree_on_gpu.cuh"

#include <cstdint>

/// \file
/// Leaves without descent. With at most s points in a leaf, a box holds too many exactly if two points of it, s places
/// apart in the order of keys, are in it. So the level of the leaf of point i is 1 + the largest number of levels
/// that points j and j + s have in common, j = i - s ... i. A leaf begins where level or box change.

namespace nearfield::detail
{
  /// The deepest level at which two Morton keys lie in one box.
  template <int Dim>
  __device__ int common_levels(std::uint64_t a, std::uint64_t b)
  {
    std::uint64_t const differ = a ^ b;
    constexpr int unused = 64 - Dim * max_level<Dim>;
    return differ == 0 ? max_level<Dim> : (__clzll(static_cast<long long>(differ)) - unused) / Dim;
  }

  /// Keys of points in ascending order, and s.
  struct key_column
  {
    std::uint64_t const* keys;
    std::uint32_t n, most;

    /// The levels that points j and j + s have in common; -1 if there is no such point.
    template <int Dim>
    __device__ int crowded(std::uint32_t j) const
    {
      return most < n - j ? common_levels<Dim>(keys[j], keys[j + most]) : -1;
    }
  };

  /// of[i] is the maximum of a column over (i - width, i].
  struct window_maxima
  {
    std::int8_t const* of;
    std::uint32_t width;

    /// The maximum over (end - wanted, end], width <= wanted <= 4 width; end >= 0.
    __device__ int over(std::uint32_t end, std::uint32_t wanted) const
    {
      int result = -1;
      for (std::uint32_t k = 0; k < 4; ++k)
      {
        std::uint32_t const back = min(k * width, wanted - width);
        if (back <= end) result = max(result, static_cast<int>(of[end - back]));
      }
      return result;
    }
  };

  /// The maxima over windows of `width` <= 4.
  template <int Dim>
  __global__ void first_maxima(key_column const column, std::uint32_t width, std::int8_t* maxima)
  {
    std::uint32_t const i = thread_index();
    if (i >= column.n) return;
    int result = -1;
    for (std::uint32_t k = 0; k < width && k <= i; ++k)
      result = max(result, column.crowded<Dim>(i - k));
    maxima[i] = static_cast<std::int8_t>(result);
  }

  static __global__ void widen_maxima(window_maxima const from, std::uint32_t n,
                                      std::int8_t* maxima)
  {
    std::uint32_t const i = thread_index();
    if (i < n) maxima[i] = static_cast<std::int8_t>(from.over(i, 4 * from.width));
  }

  /// The keys around those of a part of a tree, whose boxes have neither; none: all ones.
  struct foreign_keys
  {
    std::uint64_t before, after;

    template <int Dim>
    static foreign_keys around(curve_range const& owned)
    {
      constexpr std::uint64_t none = ~std::uint64_t(0), end = std::uint64_t(1)
                                                              << Dim * max_level<Dim>;
      return {owned.begin > 0 ? owned.begin - 1 : none, owned.end < end ? owned.end : none};
    }
    /// The deepest level at which one of them lies in the box of a key; -1 if there is none.
    template <int Dim>
    __device__ int common_with(std::uint64_t key) const
    {
      int result = -1;
      if (~before != 0) result = common_levels<Dim>(key, before);
      if (~after != 0) result = max(result, common_levels<Dim>(key, after));
      return result;
    }
  };

  /// The level of the leaf of each point of a set. A leaf may be as small as it is for the sake of the other set.
  template <int Dim>
  __global__ void levels_of_points(key_column const own, window_maxima const own_maxima,
                                   key_column const other, window_maxima const other_maxima,
                                   foreign_keys const foreign, std::uint8_t* levels)
  {
    std::uint32_t const i = thread_index();
    if (i >= own.n) return;
    std::uint32_t const s = own.most;
    int crowded = foreign.common_with<Dim>(own.keys[i]);
    if (s < own.n) crowded = max(crowded, own_maxima.over(i, s + 1));
    if (s < other.n)
    {
      // those with points on both sides of this one, then the nearest s + 1 on either side
      std::uint64_t const key = own.keys[i];
      std::uint32_t const place = lower_bound(other.keys, other.n, key);
      if (place > 0) crowded = max(crowded, other_maxima.over(place - 1, s));
      if (s < other.n - place)
        crowded = max(crowded, common_levels<Dim>(key, other.keys[place + s]));
      if (place > s) crowded = max(crowded, common_levels<Dim>(key, other.keys[place - 1 - s]));
    }
    levels[i] = static_cast<std::uint8_t>(min(crowded + 1, max_level<Dim>));
  }

  /// The leaves of one set.
  template <int Dim>
  struct leaf_heads
  {
    std::uint64_t const* keys;  ///< of the points
    std::uint8_t const* levels; ///< of the points' leaves; null: all have level key_level
    std::uint32_t const* at;    ///< the first points of the leaves
    std::uint32_t const* count; ///< the number of leaves
    std::uint32_t n;            ///< points
    int key_level;              ///< that the keys are made for

    [[nodiscard]] __device__ int level_of(std::uint32_t point) const
    {
      return levels ? levels[point] : key_level;
    }
    /// The smallest key of the leaf of a point.
    [[nodiscard]] __device__ std::uint64_t leaf_key(std::uint32_t point) const
    {
      int const shift = Dim * (key_level - level_of(point));
      return keys[point] >> shift << shift;
    }
    [[nodiscard]] __device__ bool begins(std::uint32_t point) const
    {
      return point == 0 || leaf_key(point) != leaf_key(point - 1);
    }
    /// The first leaf whose smallest key is not below `key`.
    [[nodiscard]] __device__ std::uint32_t find(std::uint64_t key) const
    {
      return count_before(n > 0 ? *count : 0,
                          [&](std::uint32_t leaf) { return leaf_key(at[leaf]) < key; });
    }
    [[nodiscard]] __device__ std::uint32_t begin_of(std::uint32_t leaf) const
    {
      return n > 0 && leaf < *count ? at[leaf] : n;
    }
    [[nodiscard]] __device__ bool has(std::uint32_t leaf, std::uint64_t key) const
    {
      return n > 0 && leaf < *count && leaf_key(at[leaf]) == key;
    }
  };

  template <int Dim>
  struct is_head
  {
    leaf_heads<Dim> heads;

    __device__ bool operator()(std::uint32_t point) const { return heads.begins(point); }
  };

  /// 1 for a leaf of sources without targets.
  template <int Dim>
  struct is_without_targets
  {
    leaf_heads<Dim> targets, sources;

    __device__ std::uint64_t operator()(std::uint32_t leaf) const
    {
      if (leaf >= *sources.count) return 0;
      std::uint64_t const key = sources.leaf_key(sources.at[leaf]);
      return !targets.has(targets.find(key), key);
    }
  };

  /// Where leaves are written; those beyond the capacity are only counted.
  template <int Dim>
  struct leaf_columns
  {
    std::uint64_t* keys;
    leaf_cell<Dim>* cells;
    index_type *target_offsets, *source_offsets; ///< the latter null for one set
    source_range* own;
    std::uint32_t capacity;
    key_layout layout;
    list_report* report;

    __device__ void write(std::uint32_t b, std::uint64_t key, int level,
                          source_range const& targets, source_range const& sources,
                          std::uint32_t* sizes) const
    {
      std::uint32_t const n_targets = targets.end - targets.begin;
      if (n_targets > 0) atomicAdd(sizes + 31 - __clz(static_cast<int>(n_targets)), 1u);
      atomicMax(sizes + 32, max(n_targets, sources.end - sources.begin));
      atomicMax(sizes + 33, static_cast<std::uint32_t>(level));
      if (b >= capacity) return;
      keys[b] = key;
      leaf_cell<Dim> cell{decode<Dim>(key, layout), level};
      for (int d = 0; d < Dim; ++d) cell.index[d] >>= layout.level - level;
      cells[b] = cell;
      if (b == 0)
      {
        target_offsets[0] = 0;
        if (source_offsets) source_offsets[0] = 0;
      }
      target_offsets[b + 1] = targets.end;
      if (source_offsets) source_offsets[b + 1] = sources.end;
      own[b] = {sources.begin, sources.end};
    }
  };

  /// The leaves that hold targets or, with OfSources, those that hold sources alone; n_before[c] is the number of
  /// the latter before leaf c of the sources. One thread for each leaf of the set, in blocks of block_threads.
  template <bool OfSources, int Dim>
  __global__ void write_leaves(leaf_heads<Dim> const targets, leaf_heads<Dim> const sources,
                               std::uint64_t const* n_before, leaf_columns<Dim> const to)
  {
    __shared__ std::uint32_t sizes[34];
    if (threadIdx.x < 34) sizes[threadIdx.x] = 0;
    __syncthreads();
    auto const& heads = OfSources ? sources : targets;
    std::uint32_t const step = gridDim.x * block_threads;
    for (std::uint32_t a = thread_index(); a < *heads.count; a += step)
    {
      std::uint32_t const point = heads.at[a];
      std::uint64_t const key = heads.leaf_key(point);
      int const level = heads.level_of(point);
      source_range const own{point, heads.begin_of(a + 1)};
      if (!n_before)
        to.write(a, key, level, own, own, sizes);
      else
      {
        auto const& others = OfSources ? targets : sources;
        std::uint32_t const c = others.find(key);
        source_range other{others.begin_of(c), others.begin_of(c)};
        bool const shared = others.has(c, key);
        if (shared) other.end = others.begin_of(c + 1);
        if constexpr (OfSources)
        {
          if (!shared) to.write(n_before[a] + c, key, level, other, own, sizes);
        }
        else
          to.write(a + n_before[c], key, level, own, other, sizes);
      }
    }
    if (thread_index() == 0)
    {
      if (!n_before)
        to.report->leaves = *heads.count;
      else if (!OfSources || targets.n == 0)
        to.report->leaves =
            (targets.n > 0 ? *targets.count : 0) +
            static_cast<std::uint32_t>(n_before[sources.n > 0 ? *sources.count : 0]);
    }
    __syncthreads();
    std::uint32_t const value = threadIdx.x < 34 ? sizes[threadIdx.x] : 0;
    if (value == 0) return;
    if (threadIdx.x < 32) atomicAdd(to.report->leaves_of_size + threadIdx.x, value);
    if (threadIdx.x == 32) atomicMax(&to.report->largest, value);
    if (threadIdx.x == 33) atomicMax(&to.report->depth, value);
  }
}
