#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace nearfield
{
  /// How the cells of a search are cut.
  template <class T, int Dim>
  struct cell_list_options
  {
    /// How many cells span the cutoff on each axis; 0: the default, which is 1, and 2 on the last axis.
    std::array<int, Dim> cells_per_cutoff{};
    /// The length of the periodic box [0, L) on each axis; 0 is an open axis.
    std::array<T, Dim> period{};
  };

  /// How an axis of a grid ends.
  enum class grid_axis
  {
    open,
    periodic,     ///< the neighbours of the first cell go on with the last one, one period away
    minimum_image ///< periodic and of one cell: the nearest image is chosen for each pair
  };

  /// A uniform grid for points closer than a cutoff: of every such pair the cells are at most `reach`
  /// apart on each axis. One definition for all back-ends, since it decides the order of results.
  ///
  /// The cell of x on axis a is floor((double(x) - lower) * inverse_width), clamped to 0 ... cells - 1.
  template <class T, int Dim>
  struct cell_grid
  {
    T cutoff = 0;                            ///< R
    std::array<double, Dim> lower{};         ///< where cell 0 begins on each axis
    std::array<double, Dim> inverse_width{}; ///< of a cell on each axis, length^-1
    std::array<std::uint32_t, Dim> cells{};  ///< how many on each axis
    std::array<int, Dim> reach{};      ///< how many cells away neighbours are at most on each axis
    std::array<grid_axis, Dim> axes{}; ///< how each axis ends
    /// L where periodic, 0 elsewhere
    std::array<T, Dim> period{};

    /// R^2, rounded once: a pair is in where r2 < R^2.
    [[nodiscard]] NEARFIELD_FN T cutoff_squared() const { return cutoff * cutoff; }

    /// The cell of coordinate x on an axis.
    [[nodiscard]] NEARFIELD_FN std::uint32_t index(int axis, T x) const
    {
      double const place = (double(x) - lower[axis]) * inverse_width[axis];
      double const last = double(cells[axis] - 1);
      // the comparisons in this direction clamp -0.1 and a rounded-up end alike
      return place > 0 ? static_cast<std::uint32_t>(place < last ? place : last) : 0u;
    }

    /// Cells in row-major order, the last axis fastest: fewer than 2^63.
    [[nodiscard]] NEARFIELD_FN std::uint64_t key(std::array<std::uint32_t, Dim> const& at) const
    {
      std::uint64_t key = at[0];
      for (int a = 1; a < Dim; ++a) key = key * cells[a] + at[a];
      return key;
    }

    /// The number of cells, those without points too.
    [[nodiscard]] std::uint64_t size() const
    {
      std::uint64_t product = 1;
      for (int a = 0; a < Dim; ++a) product *= cells[a];
      return product;
    }
  };

  /// The most cells on one axis. Rounding moves a place in such a grid by less than 2^-30 cells, which is
  /// less than what make_cell_grid widens them by: it cannot part two points closer than the cutoff. Three
  /// axes fill 63 bits of a key.
  inline constexpr std::uint32_t max_cells_per_axis = 1u << 21;

  /// The most cells that may span a cutoff. With k of them (2 k + 1)^(Dim - 1) rows of cells are in
  /// reach of each cell, and hold (1 + 1 / (2 k))^Dim times the points of the smallest cube around the
  /// sphere: on three axes, with 8, 289 rows and 1.2 times. More cells cost more rows and can hardly
  /// save points; 1 to 3 are the quickest.
  inline constexpr int max_cells_per_cutoff = 8;

  namespace detail
  {
    /// Throws error unless the cutoff, the periods and cells_per_cutoff can be searched with.
    template <class T, int Dim>
    void check_cell_options(T cutoff, cell_list_options<T, Dim> const& options)
    {
      std::string const where = "cell_list: ";
      if (!(cutoff > 0) || !std::isfinite(cutoff))
        throw error(where + "the cutoff is " + number_text(cutoff) +
                    "; give a positive, finite length");
      // squares below have few digits, those above none
      if (!std::isnormal(cutoff * cutoff))
        throw error(where + "the square of the cutoff " + number_text(cutoff) +
                    " is no normal number of this precision; use other units of length");
      for (int a = 0; a < Dim; ++a)
      {
        T const period = options.period[a];
        if (options.cells_per_cutoff[a] < 0 || options.cells_per_cutoff[a] > max_cells_per_cutoff)
          throw error(where + "cells_per_cutoff is " + std::to_string(options.cells_per_cutoff[a]) +
                      " on axis " + std::to_string(a) + "; give 1 to " +
                      std::to_string(max_cells_per_cutoff) + ", or 0 for the default");
        if (!(period >= 0) || !std::isfinite(period))
          throw error(where + "the period is " + number_text(period) + " on axis " +
                      std::to_string(a) +
                      "; give a positive, finite length, or 0 for an open axis");
        if (period > 0 && period < 2 * cutoff)
          throw error(where + "the period " + number_text(period) + " of axis " +
                      std::to_string(a) + " is less than twice the cutoff " + number_text(cutoff) +
                      ", so a pair could be in with two images; give a smaller cutoff or a larger "
                      "period");
      }
    }
  }

  /// The grid for points between `lower` and `upper` (0 and anything on a periodic axis, where points lie in
  /// [0, L)). Throws error for a cutoff that is not positive and finite, L < 2 R, cells_per_cutoff below 0 or
  /// above max_cells_per_cutoff, and points further apart than the largest double.
  ///
  /// No rounding may lose a pair: k cells are wider than any pair that is in, by the test in T, is apart on
  /// an axis. r2 < R^2 lets in pairs a few eps of R beyond the cutoff. On a periodic axis d is rounded while
  /// it is as long as L, by eps L / 2, before the image is taken off. Places are computed to 2^-30 of a cell.
  template <class T, int Dim>
  cell_grid<T, Dim> make_cell_grid(std::type_identity_t<std::array<T, Dim>> const& lower,
                                   std::type_identity_t<std::array<T, Dim>> const& upper, T cutoff,
                                   cell_list_options<T, Dim> const& options)
  {
    detail::check_cell_options(cutoff, options);
    cell_grid<T, Dim> grid;
    grid.cutoff = cutoff;
    grid.period = options.period;
    for (int a = 0; a < Dim; ++a)
    {
      int const wanted = options.cells_per_cutoff[a];
      int const k = wanted > 0 ? wanted : a == Dim - 1 ? 2 : 1;
      constexpr double eps = std::numeric_limits<T>::epsilon();
      double const least =
          (double(cutoff) * (1 + 8 * eps + 0x1p-30) + eps * double(options.period[a])) / k;
      double const extent =
          options.period[a] > 0 ? double(options.period[a]) : double(upper[a]) - double(lower[a]);
      if (!std::isfinite(extent))
        throw error("cell_list: the points of axis " + std::to_string(a) +
                    " spread wider than the largest double; use other units of length");
      double const fit = std::floor(extent / least);
      grid.reach[a] = k;
      if (options.period[a] > 0)
      {
        double const cells = fit < max_cells_per_axis ? fit : double(max_cells_per_axis);
        // With 2 k + 1 cells each pair of cells is within reach through one image at most.
        bool const wraps = cells >= 2 * k + 1;
        grid.axes[a] = wraps ? grid_axis::periodic : grid_axis::minimum_image;
        grid.cells[a] = wraps ? static_cast<std::uint32_t>(cells) : 1;
        grid.reach[a] = wraps ? k : 0;
        grid.lower[a] = 0;
        grid.inverse_width[a] = 1 / (extent / grid.cells[a]);
      }
      else
      {
        bool const fits = fit < max_cells_per_axis;
        grid.lower[a] = double(lower[a]);
        grid.cells[a] = fits ? static_cast<std::uint32_t>(fit) + 1 : max_cells_per_axis;
        double const width = fits ? least : extent / max_cells_per_axis;
        grid.inverse_width[a] = 1 / width;
        // wider cells, or fewer than k, need not look as far
        if (!fits) grid.reach[a] = std::min(k, static_cast<int>(std::ceil(k * least / width)));
        grid.reach[a] = std::min(grid.reach[a], static_cast<int>(grid.cells[a]) - 1);
      }
    }
    return grid;
  }
}
