#pragma once

#include "launch.cuh"
#include "points.cuh"
#include "starts.cuh"

#include <nearfield/core/boxes.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// \file
/// Sorted points of a GPU and others that arrive, in one order.

namespace nearfield::detail
{
  /// Coordinates x0 y0 z0 x1 y1 z1 ... of columns: in another order they are read from a third of the places.
  template <class T, int Dim>
  __global__ void interleave(device_points<T, Dim> points, T* rows)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    for (int d = 0; d < Dim; ++d) rows[std::size_t(Dim) * i + d] = points.x[d][i];
  }

  /// Sorted points [first, first + n) and others, the first n_before of which come before them: row i of all.
  template <class T, int Dim>
  struct united_rows
  {
    T const* own; ///< interleaved
    device_points<T, Dim> others{};
    index_type const* order; ///< of own points
    std::uint32_t first, n, n_before = 0;

    /// Writes its coordinates and its index to position p.
    __device__ void take(std::uint32_t i, std::uint32_t p, std::array<T*, Dim> const& x,
                         index_type* indices) const
    {
      bool const is_own = i - n_before < n; // and not below n_before
      std::uint32_t const at = is_own ? order[first + i - n_before] : i < n_before ? i : i - n;
      for (int d = 0; d < Dim; ++d)
        x[d][p] = is_own ? own[std::size_t(Dim) * at + d] : others.x[d][at];
      indices[p] = is_own ? at : no_row;
    }
  };

  /// Position p takes row p.
  template <class T, int Dim>
  __global__ void take_rows(united_rows<T, Dim> from, std::uint32_t n, std::array<T*, Dim> x,
                            index_type* indices)
  {
    std::uint32_t const p = thread_index();
    if (p < n) from.take(p, p, x, indices);
  }

  /// Where sorted others come to lie: places[k] of the k-th, which is order[k] of them. The first n_before of them come
  /// before own points with equal keys, the rest after. rows[k]: its number, if own points are counted between them.
  static __global__ void find_places_of_others(std::uint64_t const* own_keys, std::uint32_t n_own,
                                               std::uint64_t const* keys, index_type const* order,
                                               std::uint32_t n, std::uint32_t n_before,
                                               index_type* places, index_type* rows)
  {
    std::uint32_t const k = thread_index();
    if (k >= n) return;
    bool const is_before = order[k] < n_before;
    // keys have fewer than 64 bits
    places[k] = k + lower_bound(own_keys, n_own, keys[k] + !is_before);
    rows[k] = order[k] + (is_before ? 0 : n_own);
  }

  /// The first place in [begin, end) that is not below a position; places ascend.
  __device__ inline std::uint32_t first_place(index_type const* places, std::uint32_t begin,
                                              std::uint32_t end, std::uint32_t position)
  {
    return begin +
           count_before(end - begin, [&](std::uint32_t k) { return places[begin + k] < position; });
  }

  /// Of n places, how many lie before each block of positions: the threads of a block would wait for this search.
  static __global__ void count_before_blocks(index_type const* places, std::uint32_t n,
                                             std::uint32_t n_blocks, std::uint32_t* before)
  {
    std::uint32_t const block = thread_index();
    if (block <= n_blocks) before[block] = first_place(places, 0, n, block * block_threads);
  }

  /// Own points, whose keys these are, and n others at `places`, in one order.
  template <class T, int Dim>
  __global__ void __launch_bounds__(block_threads)
      merge_rows(united_rows<T, Dim> const from, std::uint64_t const* own_keys,
                 std::uint64_t const* other_keys, index_type const* places, index_type const* rows,
                 std::uint32_t n, std::uint32_t const* before, std::array<T*, Dim> const x,
                 index_type* indices, std::uint64_t* keys)
  {
    std::uint32_t const p = thread_index();
    if (p >= from.n + n) return;
    std::uint32_t const k = first_place(places, before[blockIdx.x], before[blockIdx.x + 1], p);
    bool const is_other = k < n && places[k] == p;
    keys[p] = is_other ? other_keys[k] : own_keys[p - k];
    from.take(is_other ? rows[k] : from.n_before + p - k, p, x, indices);
  }
}
