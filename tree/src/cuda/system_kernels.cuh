#pragma once

#include "../gaps.hpp"
#include "launch.cuh"
#include "system_bounds.cuh"
#include "system_grids.cuh"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <algorithm>

/// \file
/// Kernels that make the grids and the images of systems. To be compiled without contraction: each operation of grids is
/// rounded by itself, as on the host.

namespace nearfield::detail
{
  template <class T, int Dim>
  struct made_grids
  {
    cell_grid<T, Dim>* grids;
    device_system* systems;
    device_system_cutoff<T>* cutoffs;
    system_verdict* verdicts;
  };

  inline constexpr int grid_threads = 8; // few, so that all multiprocessors divide, and write grids

  /// A thread makes the grid of a system.
  template <class T, int Dim>
  __global__ void __launch_bounds__(grid_threads)
      make_grids(system_start<T> const* starts, std::uint32_t n,
                 frames_of_systems<Dim> const frames,
                 __grid_constant__ cell_list_options<T, Dim> const options,
                 system_bounds<Dim> const* bounds, made_grids<T, Dim> const to)
  {
    std::uint32_t const s = blockIdx.x * grid_threads + threadIdx.x;
    if (s >= n) return;
    system_start<T> const begin = starts[s], end = starts[s + 1];
    system_bounds<Dim> const& of = bounds[s];
    cell_frame<Dim> const& frame = frames(s);
    system_verdict verdict{};
    verdict.is_empty =
        begin.first_target == end.first_target && begin.first_source == end.first_source;
    verdict.is_outside = of.is_outside != 0;
    verdict.any_far = of.any_far != 0;
    if ((of.not_finite[0] | of.not_finite[1] | of.too_far[0] | of.too_far[1]) != 0)
    {
      verdict.problem = system_problem::points;
      to.verdicts[s] = verdict;
      return;
    }
    auto const found = verdict.is_empty ? found_bounds<Dim>() : bounds_from(of, frame.is_aligned);
    tried_grid<T, Dim> const made = try_cell_grid(found.along, begin.cutoff, options, frame);
    to.grids[s] = made.grid;
    if (made.problem != grid_problem::none)
    {
      verdict.problem = system_problem::grid;
      verdict.of_grid = made.problem;
      verdict.axis = static_cast<std::uint8_t>(made.axis);
    }
    else
    {
      verdict.most_counter = most_counter(frame, numbers_of(made.grid));
      if (verdict.most_counter > cell_frame<Dim>::max_image)
        verdict.problem = system_problem::sheared;
      std::array<double, Dim> extent{};
      for (int a = 0; a < Dim; ++a)
      {
        extent[a] = found.upper[a] - found.lower[a];
        if (!has_wide_cells(made.grid, options, a)) continue;
        verdict.problem = system_problem::wide;
        verdict.axis = static_cast<std::uint8_t>(a);
      }
      device_system& system = to.systems[s];
      system.geometry = make_cell_geometry<T, Dim>(made.grid, found.lower, extent,
                                                   end.first_target - begin.first_target);
      verdict.rows = system.geometry.rows();
      verdict.cells_of_row = system.geometry.cells[2];
      verdict.group = system.geometry.group;
      verdict.images = static_cast<std::uint32_t>(system.geometry.n_images);
      system.first_target = begin.first_target;
      system.first_source = begin.first_source;
      to.cutoffs[s] = {made.grid.cutoff_squared};
    }
    to.verdicts[s] = verdict;
  }

  inline constexpr int place_threads = 256;

  /// Gives systems their group, cells and images. A block does so for as many systems as it has threads, since they are far
  /// apart in memory, and finds what is before them by itself; the first one tells `mail`.
  static __global__ void __launch_bounds__(place_threads)
      place_systems(device_system* systems, system_verdict const* verdicts, std::uint32_t n,
                    system_room const room, system_mail* mail)
  {
    using scan = cub::BlockScan<unsigned long long, place_threads>;
    using sum = cub::BlockReduce<unsigned long long, place_threads>;
    __shared__ union {
      typename scan::TempStorage scan;
      typename sum::TempStorage sum;
    } scratch;
    __shared__ std::uint32_t group, bad, is_outside, any_far;
    __shared__ unsigned long long most; // of a number that is not negative, the bits are in order
    __shared__ double wide_cells;
    __shared__ unsigned long long cells_before_block, images_before_block;
    if (threadIdx.x == 0)
    {
      group = ~0u;
      bad = n;
      is_outside = 0;
      any_far = 0;
      most = 0;
      wide_cells = 0;
    }
    __syncthreads();
    double my_most = 0, my_cells = 0;
    for (std::uint32_t s = threadIdx.x; s < n; s += place_threads)
    {
      system_verdict const verdict = verdicts[s];
      if (verdict.problem != system_problem::none)
        atomicMin(&bad, s);
      else if (!verdict.is_empty)
        atomicMin(&group, verdict.group);
      if (verdict.is_outside) is_outside = 1;
      if (verdict.any_far) any_far = 1;
      my_most = fmax(my_most, verdict.most_counter);
    }
    // of a warp first: many atomics of 64 bits on one place take long
    for (int lanes = 16; lanes > 0; lanes /= 2)
      my_most = fmax(my_most, __shfl_xor_sync(~0u, my_most, lanes));
    if (threadIdx.x % 32 == 0)
      atomicMax(&most, static_cast<unsigned long long>(__double_as_longlong(my_most)));
    __syncthreads();
    std::uint32_t const of_all = group == ~0u ? 1 : group;
    std::uint32_t const first = blockIdx.x * place_threads, own = first + threadIdx.x;
    unsigned long long before[2] = {}, all[2] = {}, mine[2] = {}; // cells and images
    for (std::uint32_t s = threadIdx.x; s < n && bad == n; s += place_threads)
    {
      system_verdict const verdict = verdicts[s];
      if (verdict.is_empty) continue;
      unsigned long long const here[2] = {
          verdict.rows * ((verdict.cells_of_row + of_all - 1) / of_all * of_all), verdict.images};
      my_cells += static_cast<double>(here[0]);
      for (int k = 0; k < 2; ++k)
      {
        all[k] += here[k];
        if (s < first) before[k] += here[k];
        if (s == own) mine[k] = here[k];
      }
    }
    auto const of_block = [&](unsigned long long value)
    {
      unsigned long long const total = sum(scratch.sum).Sum(value);
      __syncthreads();
      return total;
    };
    auto const before_thread = [&](unsigned long long value)
    {
      scan(scratch.scan).ExclusiveSum(value, value);
      __syncthreads();
      return value;
    };
    // the first thread has these
    before[0] = of_block(before[0]);
    before[1] = of_block(before[1]);
    all[0] = of_block(all[0]);
    all[1] = of_block(all[1]);
    if (threadIdx.x == 0)
    {
      cells_before_block = before[0];
      images_before_block = before[1];
    }
    unsigned long long const cells_before = before_thread(mine[0]),
                             images_before = before_thread(mine[1]);
    if (own < n && bad == n)
    {
      if (mine[0] != 0) systems[own].geometry.set_group(of_all);
      systems[own].first_cell = cells_before_block + cells_before;
      systems[own].first_image = static_cast<std::uint32_t>(images_before_block + images_before);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) my_cells += __shfl_xor_sync(~0u, my_cells, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&wide_cells, my_cells);
    __syncthreads();
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    auto* const to = static_cast<system_mail volatile*>(mail);
    to->found.cells = all[0];
    to->found.images = all[1];
    to->found.bad_system = bad;
    double const most_counter = __longlong_as_double(static_cast<long long>(most));
    bool const is_far = room.most_of_images >= 0 &&
                        (any_far != 0 || most_counter > static_cast<double>(room.most_of_images));
    to->found.is_far = is_far;
    to->found.fits = bad == n && !is_far && wide_cells <= static_cast<double>(room.cells) &&
                     all[0] <= room.cells && all[1] <= room.images;
    to->is_outside = is_outside;
    to->any_far = any_far;
    to->group = of_all;
    to->wide_cells = wide_cells;
    to->most_counter = most_counter;
    __threadfence_system();
    to->done = 1;
  }

  /// A thread makes an image of a system.
  template <class T, int Dim>
  __global__ void make_tables(frames_of_systems<Dim> const frames, device_system const* systems,
                              cell_grid<T, Dim> const* grids, std::uint32_t n_systems,
                              std::uint32_t n, found_cells const* found, image_move* moves,
                              std::array<T, Dim>* shifts, image_counters<Dim>* counters,
                              std::uint32_t* packed)
  {
    std::uint32_t const k = thread_index();
    if (k >= n || (found && (found->fits == 0 || k >= found->images))) return;
    // systems without points begin where the next one does
    std::uint32_t const of =
        count_before(n_systems, [&](std::uint32_t s) { return systems[s].first_image <= k; }) - 1;
    cell_frame<Dim> const& frame = frames(of);
    auto const image = image_of(frame, numbers_of(grids[of]),
                                static_cast<std::uint16_t>(k - systems[of].first_image));
    auto const shift = frame.shift(image);
    counters[k] = image;
    packed[k] = packed_word(image);
    moves[k] = move_of<Dim>(image, shift, systems[of].geometry.units_per_length);
#pragma unroll
    for (int a = 0; a < Dim; ++a) shifts[k][a] = static_cast<T>(shift[a]);
  }

  /// A thread for each system. No cells: no box has changed.
  template <class T, int Dim>
  __global__ void make_frames(cell_grid<T, Dim> const* grids, std::uint32_t n,
                              frames_of_systems<Dim> const then, cell<Dim> const* cells,
                              double skin, cell_frame<Dim>* frames, double* most2)
  {
    std::uint32_t const s = thread_index();
    if (s >= n) return;
    std::uint32_t const box = then.is_one ? 0 : s;
    cell_frame<Dim> const now = cells ? with_vectors_of(then(s), cells[box]) : then(s);
    if (s == box) frames[box] = now;
    most2[s] = most_move_squared(grids[s], now, skin);
  }
}
