#pragma once

#include "cells.cuh"
#include "launch.cuh"
#include "reduce.cuh"
#include "system_grids.cuh"

#include "../skin.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

/// \file
/// What near fields over cells add to points: shifts of images, and moves into the box, both in the boxes as they are now.

namespace nearfield::detail
{
  template <std::size_t Dim>
  __device__ std::array<double, 3> widened(std::array<double, Dim> const& shift, double sign)
  {
    std::array<double, 3> wide{};
#pragma unroll
    for (std::size_t a = 0; a < Dim; ++a) wide[a] = 0 + sign * shift[a]; // no -0
    return wide;
  }

  /// `found`: as in fill_tables().
  template <class T, int Dim>
  __global__ void shifts_of_images(std::array<T, Dim> const* shifts, std::uint32_t n,
                                   found_cells const* found, std::array<double, 3>* to)
  {
    std::uint32_t const s = thread_index();
    if (s >= n || (found && s >= found->images)) return;
    std::array<double, Dim> shift;
#pragma unroll
    for (int a = 0; a < Dim; ++a) shift[a] = static_cast<double>(shifts[s][a]);
    to[s] = widened(shift, 1);
  }

  /// Minus the image of each point, by index. frames(i) is the frame of point i.
  template <int Dim, class Frames>
  __global__ void moves_of_points(counters_of_points<Dim> const images,
                                  __grid_constant__ Frames const frames, std::uint32_t n,
                                  std::array<double, 3>* to)
  {
    std::uint32_t const i = thread_index();
    if (i < n) to[i] = widened(frames(i).shift(images[i]), -1);
  }

  template <class T, int Dim>
  leaf_moves cells_on_gpu<T, Dim>::make_leaf_moves()
  {
    char const* const what = "cuda_cell_list: moves";
    leaf_moves made;
    if (auto const n = static_cast<std::uint32_t>(images_.size()); n > 0)
    {
      made.shifts = device_array<std::array<double, 3>>(n, stream_, what);
      shifts_of_images<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream_>>>(
          images_.shifts(), n, found(), made.shifts.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: shifts_of_images");
    }
    bool const has_moved = !cells_now_.empty() && !is_fixed(); // the boxes of a batch
    if (systems_.any() && has_moved)
      make_moved_frames<T, Dim>(systems_, cells_now_, reach_beyond(grid_of_.options()), frames_now_,
                                stream_);
    for (int set = 0; set < (one_set_ ? 1 : 2); ++set)
    {
      auto const& points = in_box(set);
      auto const n = static_cast<std::uint32_t>(points.images.size());
      if (n == 0) continue;
      auto const write = [&](auto const& frames)
      {
        moves_of_points<Dim><<<blocks_for(n, block_threads), block_threads, 0, stream_>>>(
            points.counters(), frames, n, made.moves[set].data());
      };
      made.moves[set] = device_array<std::array<double, 3>>(n, stream_, what);
      if (systems_.any())
        write(frames_of_points<Dim>{has_moved ? frames_now_.view() : systems_.frames->view(),
                                    systems_.parts->sets[set].by_point()});
      else
        write(one_frame<Dim>{frame_in(cells_now_)});
      check_cuda(cudaGetLastError(), "cuda_cell_list: moves_of_points");
    }
    return made;
  }

  template <class T, int Dim>
  device_leaves cells_on_gpu<T, Dim>::leaves()
  {
    check_capacity();
    rank();
    if (is_fixed()) // a graph may have made others
    {
      leaves_.reset();
      leaf_moves_.reset();
    }
    if (!leaves_)
      leaves_ = make_cell_leaves(targets_, view(false),
                                 systems_.any() ? systems_of(targets_).of_position.data() : nullptr,
                                 stream_);
    if (!leaf_moves_) leaf_moves_ = make_leaf_moves();
    device_leaves made;
    made.full = {leaves_->offsets.data(), leaves_->own.data(),        leaves_->range_offsets.data(),
                 leaves_->ranges.data(),  leaf_moves_->shifts.data(), systems_.any()};
    if (one_set_)
    {
      made.half = made.full;
      made.half.range_offsets = leaves_->half_offsets.data();
      made.half.ranges = leaves_->half_ranges.data();
    }
    made.n_leaves = &leaves_->report.data()->leaves;
    made.most_leaves = leaves_->found.leaves;
    std::copy_n(leaves_->found.leaves_of_size, 32, made.leaves_of_size.emplace().begin());
    made.target_order = target_order();
    made.source_order = source_order();
    made.target_moves = leaf_moves_->moves[0].data();
    made.source_moves = leaf_moves_->moves[one_set_ ? 0 : 1].data();
    made.one_set = one_set_;
    made.ranges_may_coincide = has_followed_ || is_fixed();
    made.stream = stream_;
    return made;
  }
}
