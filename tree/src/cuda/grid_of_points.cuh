#pragma once

#include "bounds.cuh"
#include "device_axis.cuh"
#include "geometry.hpp"
#include "launch.cuh"
#include "pinned.hpp"
#include "trace.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  template <class T, int Dim>
  void check_columns(char const* name, strided<T const, Dim> const& x)
  {
    if (x.size() >= std::size_t(1) << 31)
      throw error(std::string("cuda_cell_list: ") + name + " has " + std::to_string(x.size()) +
                  " points; give fewer than 2^31");
    for (int a = 0; a < Dim; ++a)
      if (x.size() > 0 && x[a].first == nullptr)
        throw error("cuda_cell_list: column " + std::to_string(a) + " of the " + name +
                    " is null; give a column of " + std::to_string(x.size()) + " values");
  }

  template <class T, int Dim>
  struct found_grid
  {
    cell_grid<T, Dim> grid;
    std::array<std::vector<axis_piece>, Dim> pieces{}; ///< of the grid
    cell_geometry geometry{};
  };

  /// Computes the grid over the bounding box of all points.
  template <class T, int Dim>
  class grid_of_points
  {
  public:
    using columns = strided<T const, Dim>;

    grid_of_points(cuda_stream stream, cell_list_options<T, Dim> const& options)
        : stream_(stream), options_(options)
    {}

    /// For one set, `targets`, or two. Kernels report to `found`, in pinned memory. Throws nearfield::error
    /// for points that no grid can hold.
    found_grid<T, Dim> operator()(device_bounds<Dim>* found, columns const& targets,
                                  columns const& sources, int n_sets, T cutoff)
    {
      check_cell_options(cutoff, options_);
      check_columns<T, Dim>("points", sources);
      check_columns<T, Dim>("queries", targets);
      std::array<T, Dim> lower{}, upper{};
      if (bounds_.size() == 0) bounds_ = cleared_bounds<Dim>(2, stream_, "cuda_cell_list: bounds");
      columns const* const sets[] = {&targets, &sources};
      for (int s = 0; s < n_sets; ++s)
      {
        device_points<T, Dim> const points(*sets[s]);
        if (points.n == 0) continue;
        found[s].blocks_done = 0;
        start_bounds<T, Dim>(points, options_.period, bounds_.data() + s, found + s, stream_,
                             "cuda_cell_list: find_bounds");
      }
      end_stage("bounds", stream_);
      for (int s = 0; s < n_sets; ++s)
        if (sets[s]->size() != 0)
          wait_for_word(found[s].blocks_done, stream_, "cuda_cell_list: find_bounds");
      bool first = true;
      for (int s = 0; s < n_sets; ++s)
      {
        if (sets[s]->size() == 0) continue;
        if (found[s].bad != 0) complain(s == 0 && n_sets == 2, *sets[s], ~found[s].bad);
        for (int a = 0; a < Dim; ++a)
        {
          T const l = static_cast<T>(-from_ordered_bits(found[s].lower[a]));
          T const u = static_cast<T>(from_ordered_bits(found[s].upper[a]));
          lower[a] = first || l < lower[a] ? l : lower[a];
          upper[a] = first || u > upper[a] ? u : upper[a];
        }
        first = false;
      }
      found_grid<T, Dim> result{make_cell_grid<T, Dim>(lower, upper, cutoff, options_)};
      cell_grid<T, Dim>& grid = result.grid;
      std::array<double, Dim> extent{};
      for (int a = 0; a < Dim; ++a)
      {
        extent[a] = double(upper[a]) - double(lower[a]);
        if (!has_wide_cells(grid, options_, a)) continue;
        device_axis const axis(targets[a], targets.size(), sources[a],
                               n_sets == 2 ? sources.size() : 0, stream_);
        leave_gaps_out(
            grid, options_, a, axis.spacing(crowd_of_cell),
            [&](double length) { return axis.gaps(length); }, result.pieces[a]);
        if (grid.pieces[a].n > 0) extent[a] = grid.cells[a] / grid.inverse_width[a];
      }
      result.geometry = make_cell_geometry<T, Dim>(grid, extent);
      return result;
    }

  private:
    [[noreturn]] void complain(bool is_query, columns const& x, std::uint32_t i) const
    {
      for (int a = 0; a < Dim; ++a)
      {
        T value = 0;
        device_copy(&value, &x[a][i], sizeof value, stream_);
        T const period = options_.period[a];
        bool const finite = std::isfinite(value);
        if (finite && (period == 0 || (value >= 0 && value < period))) continue;
        std::string const found = std::string("cuda_cell_list: coordinate ") + std::to_string(a) +
                                  " of " + (is_query ? "query " : "point ") + std::to_string(i) +
                                  " is " + number_text(value);
        if (!finite) throw error(found + "; give finite coordinates");
        throw error(found + ", outside the periodic box [0, " + number_text(period) +
                    "); wrap the points into it, as nearfield::wrap() does on the host");
      }
      throw error("cuda_cell_list: point " + std::to_string(i) + " changed during the call");
    }

    cuda_stream stream_;
    cell_list_options<T, Dim> options_;
    /// zero between searches
    device_array<device_bounds<Dim>> bounds_;
  };
}
