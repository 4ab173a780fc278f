#pragma once

#include "../gaps.hpp"
#include "bounds.cuh"
#include "device_axis.cuh"
#include "geometry.hpp"
#include "launch.cuh"
#include "pinned.hpp"
#include "point_errors.cuh"
#include "reduce.cuh"
#include "trace.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  template <class T, int Dim>
  struct found_grid
  {
    cell_grid<T, Dim> grid;
    std::array<std::vector<axis_piece>, Dim> pieces{}; ///< of the grid
    cell_geometry geometry{};
    std::array<points_in_box<T, Dim>, 2> in_box{}; ///< of the two sets
  };

  /// Of the sets of a list and, along the normals of oblique frames, of both once more.
  template <int Dim>
  using bounds_of_sets = std::array<device_bounds<Dim>, 4>;

  /// Computes the grid over the bounding box of all points, which are brought into the periodic box.
  template <class T, int Dim>
  class grid_of_points
  {
  public:
    using columns = strided<T const, Dim>;

    grid_of_points(cuda_stream stream, cell_list_options<T, Dim> const& options)
        : stream_(stream), options_(options)
    {}

    [[nodiscard]] cell_list_options<T, Dim> const& options() const { return options_; }

    /// In this frame, for one set, `targets`, or two. Kernels report to `found`, in pinned memory. Throws nearfield::error
    /// for points that no grid can hold.
    found_grid<T, Dim> operator()(bounds_of_sets<Dim>& found, cell_frame<Dim> const& frame,
                                  columns const& targets, columns const& sources, int n_sets,
                                  T cutoff)
    {
      check_cell_options(cutoff, options_);
      check_columns<T, Dim>("points", sources);
      check_columns<T, Dim>("queries", targets);
      if (bounds_.size() == 0) bounds_ = cleared_bounds<Dim>(4, stream_, "cuda_cell_list: bounds");
      found_grid<T, Dim> result;
      std::array<columns, 2> sets{targets, n_sets == 2 ? sources : columns()};
      std::array<bool, 2> wanted{}, moved{};
      for (int s = 0; s < 2; ++s) wanted[s] = sets[s].size() > 0;
      start(found, frame, sets, wanted);
      end_stage("bounds", stream_);
      wait(found, frame, wanted);
      for (int s = 0; s < 2; ++s)
        if (wanted[s] && found[s].bad != 0)
          complain_of_coordinate(point(s, n_sets, sets[s], ~found[s].bad));
      for (int s = 0; s < 2; ++s)
      {
        moved[s] = wanted[s] && !are_inside(frame, where(found, frame, s).along);
        if (!moved[s]) continue;
        try
        {
          bring_into_box(device_points<T, Dim>(sets[s]), one_frame<Dim>{frame},
                         &bounds_.data()[s].bad, &bounds_.data()[s].any_far, result.in_box[s],
                         stream_);
        }
        catch (...)
        {
          bounds_ = {}; // the other set may have marked a bad point
          throw;
        }
        sets[s] = result.in_box[s].or_else(sets[s]);
      }
      if (moved[0] || moved[1])
      {
        start(found, frame, sets, moved);
        end_stage("reduce", stream_);
        wait(found, frame, moved);
        for (int s = 0; s < 2; ++s)
        {
          if (moved[s] && found[s].bad != 0)
            complain_of_image(point(s, n_sets, s == 0 ? targets : sources, ~found[s].bad));
          result.in_box[s].are_near = !moved[s] || found[s].any_far == 0;
        }
      }

      set_bounds bounds;
      bool first = true;
      for (int s = 0; s < 2; ++s)
      {
        if (!wanted[s]) continue;
        set_bounds next = where(found, frame, s);
        next.along.moved = moved[s];
        for (int a = 0; a < Dim && !first; ++a)
        {
          next.lower[a] = std::min(next.lower[a], bounds.lower[a]);
          next.upper[a] = std::max(next.upper[a], bounds.upper[a]);
        }
        if (!first) next.along = united(bounds.along, next.along);
        bounds = next;
        first = false;
      }
      result.grid = make_cell_grid<T, Dim>(bounds.along, cutoff, options_, frame);
      cell_grid<T, Dim>& grid = result.grid;
      std::array<double, Dim> extent{};
      for (int a = 0; a < Dim; ++a)
      {
        extent[a] = bounds.upper[a] - bounds.lower[a];
        if (!has_wide_cells(grid, options_, a)) continue;
        device_axis const axis(sets[0][a], sets[0].size(), sets[1][a], sets[1].size(), stream_);
        leave_gaps_out(
            grid, options_, a, axis.spacing(crowd_of_cell),
            [&](double length) { return axis.gaps(length); }, result.pieces[a]);
        if (grid.pieces[a].n > 0) extent[a] = grid.cells[a] / grid.inverse_width[a];
      }
      result.geometry = make_cell_geometry<T, Dim>(grid, bounds.lower, extent, targets.size());
      for (int s = 0; s < 2; ++s) // to be followed
        if (options_.skin > 0 && wanted[s] && !moved[s])
          bring_into_box(device_points<T, Dim>(sets[s]), one_frame<Dim>{frame},
                         &bounds_.data()[s].bad, &bounds_.data()[s].any_far, result.in_box[s],
                         stream_);
      return result;
    }

  private:
    struct set_bounds
    {
      points_along<Dim> along;
      std::array<double, Dim> lower{}, upper{}; ///< of coordinates
    };

    /// Puts the search for the bounds of these sets into the stream.
    void start(bounds_of_sets<Dim>& found, cell_frame<Dim> const& frame,
               std::array<columns, 2> const& sets, std::array<bool, 2> const& wanted)
    {
      for (int s = 0; s < 2; ++s)
      {
        if (!wanted[s]) continue;
        device_points<T, Dim> const points(sets[s]);
        found[s].blocks_done = found[2 + s].blocks_done = 0;
        start_bounds(coordinates_of<T, Dim>{points}, bounds_.data() + s, &found[s], stream_,
                     "cuda_cell_list: find_bounds");
        if (!frame.is_aligned)
          start_bounds(places_along<T, Dim>{points, frame}, bounds_.data() + 2 + s, &found[2 + s],
                       stream_, "cuda_cell_list: find_bounds");
      }
    }
    void wait(bounds_of_sets<Dim> const& found, cell_frame<Dim> const& frame,
              std::array<bool, 2> const& wanted) const
    {
      for (int s = 0; s < 2; ++s)
        for (int k = s; wanted[s] && k < (frame.is_aligned ? 2 : 4); k += 2)
          wait_for_word(found[k].blocks_done, stream_, "cuda_cell_list: find_bounds");
    }

    [[nodiscard]] static set_bounds where(bounds_of_sets<Dim> const& found,
                                          cell_frame<Dim> const& frame, int s)
    {
      set_bounds set;
      device_bounds<Dim> const& along = found[frame.is_aligned ? s : 2 + s];
      for (int a = 0; a < Dim; ++a)
      {
        set.lower[a] = -from_ordered_bits(found[s].lower[a]);
        set.upper[a] = from_ordered_bits(found[s].upper[a]);
        set.along.lower[a] = -from_ordered_bits(along.lower[a]);
        set.along.upper[a] = from_ordered_bits(along.upper[a]);
        set.along.largest =
            std::max({set.along.largest, std::abs(set.lower[a]), std::abs(set.upper[a])});
      }
      return set;
    }

    [[nodiscard]] point_in_question<T, Dim> point(int set, int n_sets, columns const& x,
                                                  std::uint32_t i) const
    {
      return {x, set == 0 && n_sets == 2, i, i, stream_};
    }

    cuda_stream stream_;
    cell_list_options<T, Dim> options_;
    /// zero between searches
    device_array<device_bounds<Dim>> bounds_;
  };
}
