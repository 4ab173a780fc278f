#pragma once

#include "../systems.hpp"
#include "build_cells.cuh"
#include "cells.cuh"
#include "launch.cuh"
#include "point_errors.cuh"
#include "points.cuh"
#include "reduce.cuh"
#include "system_grids.cuh"

#include <nearfield/core/cell.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Points that have moved since their cells were made, by less than the skin.

namespace nearfield::detail
{
  /// The frame of one box, whose vectors may differ now.
  template <int Dim>
  struct moves_in_frame
  {
    cell_frame<Dim> now;
    double most2;

    __device__ cell_frame<Dim> const& frame_now(std::uint32_t) const { return now; }
    /// The most that a point may have moved, squared; below 0 if it may not.
    __device__ double most_squared(std::uint32_t) const { return most2; }
  };

  /// The same of systems, by point.
  template <int Dim>
  struct moves_in_systems
  {
    frames_of_systems<Dim> now;
    double const* most2;
    std::uint32_t const* of_point;

    __device__ cell_frame<Dim> const& frame_now(std::uint32_t i) const { return now(of_point[i]); }
    __device__ double most_squared(std::uint32_t i) const { return most2[of_point[i]]; }
  };

  /// Where the points of a set go; null: nowhere.
  template <class T, int Dim>
  struct followed_points
  {
    std::array<T*, Dim> columns{};
    image_counters<Dim>* images = nullptr;
    std::uint32_t* packed = nullptr;
  };

  /// A point x was at u = x - w vectors when cells were made. Now it is at x - (w + k) vectors, where k is 0 or, if that is
  /// too far from u, turns_of() its move; w + k may be at most most_image.
  template <class T, int Dim, class Moves>
  __global__ void
  follow_points(device_points<T, Dim> const points, device_points<T, Dim> const where_then,
                counters_of_points<Dim> const images, __grid_constant__ Moves const moves,
                double most_image, __grid_constant__ followed_points<T, Dim> const to,
                found_moves* found)
  {
    using row = std::array<double, Dim>;
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    std::array<T, Dim> const x = points.at(i), u = where_then.at(i);
    image_counters<Dim> const counters = images[i];
    cell_frame<Dim> const& now = moves.frame_now(i);
    row image{}, at{}, before{};
#pragma unroll
    for (int a = 0; a < Dim; ++a)
    {
      image[a] = counters[a];
      before[a] = static_cast<double>(u[a]);
    }
    // its square of the distance from u, as rounded
    auto const moved = [&]
    {
      row const shift = now.shift(image);
      double square = 0;
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        at[a] = static_cast<double>(static_cast<T>(static_cast<double>(x[a]) - shift[a]));
        square += (at[a] - before[a]) * (at[a] - before[a]);
      }
      return square;
    };
    double const most2 = moves.most_squared(i);
    double square = moved();
    if (!(square <= most2)) // NaN is far
    {
      for (int turn = 0; turn < most_turns; ++turn)
      {
        row move{};
#pragma unroll
        for (int a = 0; a < Dim; ++a) move[a] = at[a] - before[a];
        row const step = turns_of<Dim>(move, now);
#pragma unroll
        for (int a = 0; a < Dim; ++a) image[a] += step[a];
        square = moved();
      }
      bool fits = square <= most2;
#pragma unroll
      for (int a = 0; a < Dim; ++a) fits &= fabs(image[a]) <= fmin(now.max_image, most_image);
      if (!fits) found->has_left = 1;
    }
    if (!to.images) return;
    image_counters<Dim> counted{};
#pragma unroll
    for (int a = 0; a < Dim; ++a)
    {
      to.columns[a][i] = static_cast<T>(at[a]);
      counted[a] = static_cast<std::int32_t>(image[a]);
    }
    to.images[i] = counted;
    using counters_of = counters_of_points<Dim>;
    to.packed[i] = fits_word(counted) ? packed_word(counted) : counters_of::none;
    if (!counters_of::is_near(counted)) found->any_far = 1;
  }

  /// Tells the host: *word becomes 1 + has_left + 2 any_far.
  static __global__ void tell_moves(found_moves const* found, std::uint32_t volatile* word)
  {
    *word = 1 + found->has_left + 2 * found->any_far;
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::rebuild(columns const& targets, columns const& sources, bool one_set,
                                     std::span<cell<Dim> const> cells)
  {
    check_fixed(targets, sources, one_set, cells);
    if (is_fixed()) return build_fixed(targets, sources);
    std::vector<cell<Dim>> const before = cells_now_;
    if (!cells.empty()) cells_now_.assign(cells.begin(), cells.end());
    try
    {
      if (is_batch())
      {
        auto of = systems_.given();
        if (!cells_now_.empty()) of.cells = cells_now_;
        build(targets, sources, one_set, of);
      }
      else
        build(targets, sources, one_set, grid_.cutoff);
    }
    catch (...)
    {
      cells_now_ = before;
      throw;
    }
  }

  template <class T, int Dim>
  bool cells_on_gpu<T, Dim>::can_follow(columns const& targets, columns const& sources,
                                        bool one_set, std::span<cell<Dim> const> cells) const
  {
    std::size_t const n = systems_.any() ? systems_.size() : 1;
    check_boxes("cuda_cell_list", cells.size(), n);
    bool can = grid_of_.options().skin > 0 && one_set == one_set_ &&
               targets.size() == target_x_.size() && sources.size() == source_x_.size();
    if (systems_.any())
      return can && (cells.empty() || have_same_axes<Dim>(cells, systems_.frames->cells));
    // a point may cross the gap before its piece
    for (auto const& pieces : pieces_) can &= pieces.empty();
    return can && (cells.empty() || cells[0].periodic == grid_.frame.periodic);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::set_moves(int byte)
  {
    if (found_moves_.size() == 0)
      found_moves_ = device_array<found_moves>(1, stream_, "cuda_cell_list: skin");
    check_cuda(cudaMemsetAsync(found_moves_.data(), byte, sizeof(found_moves), stream_),
               "cudaMemsetAsync");
  }

  template <class T, int Dim>
  template <class Moves>
  void cells_on_gpu<T, Dim>::follow(int set, columns const& x, Moves const& moves,
                                    points_in_box<T, Dim>* found)
  {
    if (x.size() == 0) return;
    followed_points<T, Dim> to;
    if (found)
    {
      found->fit(x.size(), stream_);
      for (int a = 0; a < Dim; ++a) to.columns[a] = found->columns[a].data();
      to.images = found->images.data();
      to.packed = found->packed.data();
    }
    // searches of graphs count on it
    double const most_image = is_fixed() && then_[set].are_near
                                  ? counters_of_points<Dim>::near
                                  : std::numeric_limits<double>::infinity();
    follow_points<T, Dim><<<blocks_for(x.size(), block_threads), block_threads, 0, stream_>>>(
        device_points<T, Dim>(x), device_points<T, Dim>(then_[set].or_else(x)),
        then_[set].counters(), moves, most_image, to, found_moves_.data());
    check_cuda(cudaGetLastError(), "cuda_cell_list: follow_points");
  }

  template <class T, int Dim>
  auto cells_on_gpu<T, Dim>::follow(columns const& targets, columns const& sources,
                                    std::span<cell<Dim> const> cells, bool writes) -> followed
  {
    check_columns<T, Dim>("points", sources);
    check_columns<T, Dim>("queries", targets);
    set_moves(0);
    two_sets<T, Dim> const sets = sets_of(targets, sources);
    double const skin = reach_beyond(grid_of_.options());
    followed found;
    if (cells.empty() && !is_fixed()) cells = cells_now_;
    if (systems_.any())
      make_moved_frames<T, Dim>(systems_, cells, skin, frames_now_, stream_);
    else
      found.frame = frame_in(cells);
    for (int set = 0; set < 2; ++set)
    {
      auto* const to = !writes ? nullptr : is_fixed() ? &in_box_[set] : &found.points[set];
      if (systems_.any())
        follow(set, sets[set],
               moves_in_systems<Dim>{frames_now_.view(), frames_now_.most2.data(),
                                     systems_.parts->sets[set].by_point()},
               to);
      else
        follow(set, sets[set],
               moves_in_frame<Dim>{found.frame, most_move_squared(grid_, found.frame, skin)}, to);
    }
    return found;
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::take(followed&& found, columns const& targets, columns const& sources,
                                  std::span<cell<Dim> const> cells)
  {
    try
    {
      has_followed_ = true;
      if (is_fixed())
      {
        bind(targets, sources);
        write_records(targets_, target_x_);
        if (!one_set_) write_records(sources_, source_x_);
        return;
      }
      if (systems_.any())
        fill_tables<T, Dim>(systems_, frames_now_.view(), images_, nullptr, stream_);
      else
        images_.make(found.frame, numbers_of(grid_), geometry_.units_per_length, stream_);
      in_box_ = std::move(found.points);
      leaf_moves_.reset();
      if (!cells.empty()) cells_now_.assign(cells.begin(), cells.end());
      bind(targets, sources);
      rank();
      free_records(); // the next search makes them
    }
    catch (...)
    {
      forget();
      throw;
    }
  }

  template <class T, int Dim>
  std::uint32_t const* cells_on_gpu<T, Dim>::needs_rebuild(columns const& targets,
                                                           columns const& sources, bool one_set,
                                                           std::span<cell<Dim> const> cells)
  {
    check_fixed(targets, sources, one_set, cells);
    if (can_follow(targets, sources, one_set, cells))
      follow(targets, sources, cells, false);
    else
      set_moves(1);
    return &found_moves_.data()->has_left;
  }

  template <class T, int Dim>
  bool cells_on_gpu<T, Dim>::update(columns const& targets, columns const& sources, bool one_set,
                                    std::span<cell<Dim> const> cells, bool is_checked)
  {
    check_fixed(targets, sources, one_set, cells);
    if (can_follow(targets, sources, one_set, cells))
    {
      followed found = follow(targets, sources, cells, true);
      end_stage("follow", stream_);
      bool has_left = false, are_near = false;
      if (is_checked)
      {
        std::uint32_t volatile& word = mail_->moves;
        word = 0;
        tell_moves<<<1, 1, 0, stream_>>>(found_moves_.data(), &word);
        check_cuda(cudaGetLastError(), "cuda_cell_list: tell_moves");
        wait_for_word(word, stream_, "cuda_cell_list: follow_points");
        has_left = (word - 1) % 2 != 0;
        are_near = word <= 2;
      }
      for (auto& points : found.points) points.are_near = are_near;
      if (!has_left)
      {
        take(std::move(found), targets, sources, cells);
        return false;
      }
    }
    rebuild(targets, sources, one_set, cells);
    return true;
  }
}
