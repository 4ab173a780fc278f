#pragma once

#include "../keys.hpp"
#include "launch.cuh"
#include "points.cuh"
#include "reduce.cuh"
#include "system_grids.cuh"

#include <nearfield/core/cell.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

/// \file
/// Where the points of systems are, in their boxes.

namespace nearfield::detail
{
  inline constexpr std::uint32_t no_system = ~0u;

  /// The bounds of some points of a system, in a lane and then in a warp. Without initial values, for shared memory.
  template <int Dim>
  struct lane_bounds
  {
    double low[2 * Dim], high[2 * Dim]; // coordinates, then along normals
    std::uint32_t not_finite, too_far, is_outside, any_far;

    /// Those of no points.
    __device__ void clear()
    {
      constexpr double infinity = std::numeric_limits<double>::infinity();
#pragma unroll
      for (int a = 0; a < 2 * Dim; ++a)
      {
        low[a] = infinity;
        high[a] = -infinity;
      }
      not_finite = too_far = is_outside = any_far = 0;
    }
    __device__ void take(int a, double x)
    {
      low[a] = x < low[a] ? x : low[a];
      high[a] = x > high[a] ? x : high[a];
    }
    template <class T>
    __device__ void add(std::array<T, Dim> x, cell_frame<Dim> const& frame, std::uint32_t p)
    {
      std::array<double, Dim> wide{};
      bool finite = true, outside = false;
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        wide[a] = static_cast<double>(x[a]);
        finite &= fabs(wide[a]) < std::numeric_limits<double>::infinity();
      }
      if (!finite)
      {
        not_finite = max(not_finite, ~p);
        return;
      }
#pragma unroll
      for (int a = 0; a < Dim; ++a)
        outside |= frame.periodic[a] && !frame.holds(a, frame.along(a, wide));
      if (outside)
      {
        is_outside = 1;
        reduced_point<T, Dim> const point = frame.reduce(x);
        if (!point.fits) too_far = max(too_far, ~p);
        if (!counters_of_points<Dim>::is_near(point.image)) any_far = 1;
#pragma unroll
        for (int a = 0; a < Dim; ++a) wide[a] = static_cast<double>(point.at[a]);
      }
#pragma unroll
      for (int a = 0; a < Dim; ++a) take(a, wide[a]);
      if (frame.is_aligned) return;
#pragma unroll
      for (int a = 0; a < Dim; ++a) take(Dim + a, frame.along(a, wide));
    }

    /// Makes them those of the warp, all lanes of which call it.
    __device__ void unite()
    {
#pragma unroll
      for (int a = 0; a < 2 * Dim; ++a)
      {
        if (a == Dim && !__any_sync(all_lanes, low[a] <= high[a])) break; // aligned frames
        for (int s = 16; s > 0; s /= 2)
        {
          double const l = __shfl_xor_sync(all_lanes, low[a], s),
                       h = __shfl_xor_sync(all_lanes, high[a], s);
          low[a] = l < low[a] ? l : low[a];
          high[a] = h > high[a] ? h : high[a];
        }
      }
      not_finite = __reduce_max_sync(all_lanes, not_finite);
      too_far = __reduce_max_sync(all_lanes, too_far);
      is_outside = __reduce_max_sync(all_lanes, is_outside);
      any_far = __reduce_max_sync(all_lanes, any_far);
    }
    /// Adds them to those of the system.
    __device__ void add_to(system_bounds<Dim>& to, int set) const
    {
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        if (low[a] <= high[a])
        {
          atomicMax(&to.lower[a], ordered_bits(-low[a]));
          atomicMax(&to.upper[a], ordered_bits(high[a]));
        }
        if (low[Dim + a] <= high[Dim + a])
        {
          atomicMax(&to.lower_along[a], ordered_bits(-low[Dim + a]));
          atomicMax(&to.upper_along[a], ordered_bits(high[Dim + a]));
        }
      }
      if (not_finite != 0) atomicMax(&to.not_finite[set], not_finite);
      if (too_far != 0) atomicMax(&to.too_far[set], too_far);
      if (is_outside != 0) to.is_outside = 1;
      if (any_far != 0) to.any_far = 1;
    }
  };

  /// A warp takes the points at `per_warp` consecutive positions, a multiple of 32, of as many systems as they are of.
  template <class T, int Dim>
  __global__ void __launch_bounds__(block_threads)
      find_system_bounds(device_points<T, Dim> const points, std::uint32_t const* of_position,
                         std::uint32_t const* order, frames_of_systems<Dim> const frames, int set,
                         std::uint32_t per_warp, system_bounds<Dim>* to)
  {
    int const lane = static_cast<int>(threadIdx.x % 32);
    std::uint64_t const begin = std::uint64_t(thread_index() / 32) * per_warp;
    std::uint64_t const end = min(begin + per_warp, std::uint64_t(points.n));
    std::uint32_t current = no_system;
    lane_bounds<Dim> own;
    own.clear();
    for (std::uint64_t first = begin; first < end; first += 32)
    {
      auto const p = static_cast<std::uint32_t>(first + lane);
      bool const is_point = p < end;
      std::uint32_t const mine = is_point ? of_position[p] : no_system;
      std::array<T, Dim> x{};
      if (is_point) x = points.at(order ? order[p] : p); // while the system is read
      for (std::uint32_t left = __ballot_sync(all_lanes, is_point); left != 0;)
      {
        std::uint32_t const next = __shfl_sync(all_lanes, mine, __ffs(left) - 1);
        if (next != current && current != no_system)
        {
          own.unite();
          if (lane == 0) own.add_to(to[current], set);
          own.clear();
        }
        current = next;
        if (mine == next) own.add(x, frames(next), p);
        left &= ~__ballot_sync(all_lanes, mine == next);
      }
    }
    own.unite();
    // a block in one system adds once: atomics on one place wait for each other
    __shared__ lane_bounds<Dim> of_warps[block_threads / 32];
    __shared__ std::uint32_t of_block;
    if (lane == 0) of_warps[threadIdx.x / 32] = own;
    if (threadIdx.x == 0) of_block = current;
    __syncthreads();
    bool const is_one = __syncthreads_and(current == of_block) != 0;
    if (is_one)
    {
      own = of_warps[lane % (block_threads / 32)];
      own.unite();
    }
    if (lane == 0 && current != no_system && (!is_one || threadIdx.x == 0))
      own.add_to(to[current], set);
  }

  template <int Dim>
  struct found_bounds
  {
    points_along<Dim> along{};
    std::array<double, Dim> lower{}, upper{}; ///< of coordinates
  };
  template <int Dim>
  __device__ found_bounds<Dim> bounds_from(system_bounds<Dim> const& of, bool is_aligned)
  {
    found_bounds<Dim> found;
    for (int a = 0; a < Dim; ++a)
    {
      found.lower[a] = -from_ordered_bits(of.lower[a]);
      found.upper[a] = from_ordered_bits(of.upper[a]);
      found.along.lower[a] = is_aligned ? found.lower[a] : -from_ordered_bits(of.lower_along[a]);
      found.along.upper[a] = is_aligned ? found.upper[a] : from_ordered_bits(of.upper_along[a]);
      found.along.largest = std::max(
          found.along.largest, std::max(std::fabs(found.lower[a]), std::fabs(found.upper[a])));
    }
    found.along.moved = of.is_outside != 0;
    return found;
  }
}
