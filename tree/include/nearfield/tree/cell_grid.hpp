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
  namespace detail
  {
    /// Points of an axis between two gaps that grids and trees leave out. The coordinate x of such a point lies at
    /// offset + (x - origin) scale, where the scale of a grid is the inverse width of a cell, and that of a tree is 1.
    struct axis_piece
    {
      /// the piece has the coordinates from here to the `first` of the next one, length^1
      double first;
      double origin; ///< length^1
      /// cells before the origin, or the length from the lower end of the root box to it
      double offset;

      friend bool operator==(axis_piece const&, axis_piece const&) = default;
    };

    /// The pieces of an axis in ascending order; none if no gap is left out. It owns nothing.
    struct axis_pieces
    {
      axis_piece const* pieces = nullptr; ///< the first one
      std::uint32_t n = 0;                ///< how many there are

      /// The place of x: offset + (x - origin) scale of its piece.
      [[nodiscard]] NEARFIELD_FN double place(double x, double scale) const
      {
        std::uint32_t at = 0;
        for (std::uint32_t left = n; left > 1;)
        {
          std::uint32_t const half = left / 2;
          at += x >= pieces[at + half].first ? half : 0;
          left -= half;
        }
        double const distance = x - pieces[at].origin;
#ifdef __CUDA_ARCH__
        // as on CPUs, without contraction
        return __dadd_rn(pieces[at].offset, __dmul_rn(distance, scale));
#else
        return pieces[at].offset + distance * scale;
#endif
      }
    };

    /// The boundary of a grid along an axis.
    enum class grid_axis
    {
      open,
      periodic,     ///< the neighbour of the first cell is the last one, one period away
      minimum_image ///< periodic, with one cell: each pair takes its nearest image
    };
  }

  /// How a search cuts space into cells.
  template <class T, int Dim>
  struct cell_list_options
  {
    /// The number of cells per cutoff on each axis; 0 is the default, which is 1, and 2 on the last axis.
    std::array<int, Dim> cells_per_cutoff{};
    /// The length L of the periodic box [0, L) on each axis; 0 for an open axis.
    std::array<T, Dim> period{};
  };

  /// The most cells on one axis. In such a grid rounding moves a place by less than 2^-30 cells, which is
  /// less than they are widened by, so it cannot separate two points closer than the cutoff.
  /// Three axes fill the 63 bits of a key.
  inline constexpr std::uint32_t max_cells_per_axis = 1u << 21;

  /// The most cells per cutoff. With k of them, (2 k + 1)^(Dim - 1) rows of cells are within reach of each cell,
  /// and hold (1 + 1 / (2 k))^Dim times the points of the smallest cube around the sphere: in 3D with k = 8, 289
  /// rows and 1.2 times. More cells mean more rows and save hardly any points; 1 to 3 are the fastest.
  inline constexpr int max_cells_per_cutoff = 8;

  namespace detail
  {
    /// A uniform grid for finding points closer than a cutoff: the cells of every such pair are at most `reach`
    /// apart on each axis. All back-ends share this definition, since it decides the order of results.
    ///
    /// The cell of x on axis a is floor((double(x) - lower) * inverse_width), clamped to 0 ... cells - 1. Where that
    /// would be more than max_cells_per_axis cells, a cell list leaves long gaps between points out: each piece of the
    /// axis has cells of its own, and `reach` empty cells follow it.
    template <class T, int Dim>
    struct cell_grid
    {
      T cutoff = 0;                            ///< R, length^1
      std::array<double, Dim> lower{};         ///< the lower end of cell 0 on each axis, length^1
      std::array<double, Dim> inverse_width{}; ///< 1 / width of a cell on each axis, length^-1
      std::array<std::uint32_t, Dim> cells{};  ///< the number of cells on each axis
      std::array<int, Dim> reach{};            ///< how many cells away neighbours may be, per axis
      std::array<grid_axis, Dim> axes{};       ///< the boundary along each axis
      /// L on periodic axes, 0 on others
      std::array<T, Dim> period{};
      /// of each axis, in memory of the cell list; none: no gap is left out
      std::array<axis_pieces, Dim> pieces{};

      /// R^2, rounded once: a pair is listed if r2 < R^2.
      [[nodiscard]] NEARFIELD_FN T cutoff_squared() const { return cutoff * cutoff; }

      /// The coordinate x in cells, from the lower end of cell 0 on, if no gap is left out.
      [[nodiscard]] NEARFIELD_FN double place_without_pieces(int axis, T x) const
      {
        return (double(x) - lower[axis]) * inverse_width[axis];
      }
      /// The same on any axis.
      [[nodiscard]] NEARFIELD_FN double place(int axis, T x) const
      {
        return pieces[axis].n == 0 ? place_without_pieces(axis, x)
                                   : pieces[axis].place(double(x), inverse_width[axis]);
      }

      /// The cell of coordinate x on an axis.
      [[nodiscard]] NEARFIELD_FN std::uint32_t index(int axis, T x) const
      {
        return index_of(axis, place(axis, x));
      }
      /// The cell of a place on an axis.
      [[nodiscard]] NEARFIELD_FN std::uint32_t index_of(int axis, double place) const
      {
        double const last = double(cells[axis] - 1);
        // written this way, the comparisons clamp both -0.1 and a rounded-up end
        return place > 0 ? static_cast<std::uint32_t>(place < last ? place : last) : 0u;
      }

      /// The key of a cell: row-major order, the last axis fastest. Below 2^63.
      [[nodiscard]] NEARFIELD_FN std::uint64_t key(std::array<std::uint32_t, Dim> const& at) const
      {
        std::uint64_t key = at[0];
        for (int a = 1; a < Dim; ++a) key = key * cells[a] + at[a];
        return key;
      }

      /// The number of cells, empty ones included.
      [[nodiscard]] std::uint64_t size() const
      {
        std::uint64_t product = 1;
        for (int a = 0; a < Dim; ++a) product *= cells[a];
        return product;
      }
    };

    /// Throws nearfield::error for a period that is negative or not finite.
    template <class T>
    void check_period(char const* function, int axis, T period)
    {
      if (!(period >= 0) || !std::isfinite(period))
        throw error(std::string(function) + ": the period is " + number_text(period) + " on axis " +
                    std::to_string(axis) +
                    "; give a positive, finite length, or 0 for an open axis");
    }

    /// Throws nearfield::error if the cutoff, a period or cells_per_cutoff is not valid for a search.
    template <class T, int Dim>
    void check_cell_options(T cutoff, cell_list_options<T, Dim> const& options)
    {
      std::string const name = "cell_list: ";
      if (!(cutoff > 0) || !std::isfinite(cutoff))
        throw error(name + "the cutoff is " + number_text(cutoff) +
                    "; give a positive, finite length");
      // squares below have lost digits, those above have overflowed
      if (!std::isnormal(cutoff * cutoff))
        throw error(name + "the square of the cutoff " + number_text(cutoff) +
                    " underflows or overflows in this precision; use other units of length");
      for (int a = 0; a < Dim; ++a)
      {
        T const period = options.period[a];
        if (options.cells_per_cutoff[a] < 0 || options.cells_per_cutoff[a] > max_cells_per_cutoff)
          throw error(name + "cells_per_cutoff is " + std::to_string(options.cells_per_cutoff[a]) +
                      " on axis " + std::to_string(a) + "; give 1 to " +
                      std::to_string(max_cells_per_cutoff) + ", or 0 for the default");
        check_period("cell_list", a, period);
        if (period > 0 && period < 2 * cutoff)
          throw error(name + "the period " + number_text(period) + " of axis " + std::to_string(a) +
                      " is less than twice the cutoff " + number_text(cutoff) +
                      ", so a point could meet two images of another; give a period of at least " +
                      number_text(2 * cutoff) + " or a cutoff of at most " +
                      number_text(period / 2));
      }
    }

    /// The least width of a cell.
    ///
    /// No rounding may lose a pair, so k cells are wider than the distance on an axis of any pair that
    /// passes the test in T. The test r2 < R^2 passes pairs a few eps R beyond the cutoff. On a periodic
    /// axis d may be as long as L when it is rounded, by eps L / 2, before the image is subtracted. Places
    /// are computed to 2^-30 of a cell.
    template <class T>
    double least_width(T cutoff, T period, int k)
    {
      constexpr double eps = std::numeric_limits<T>::epsilon();
      return (double(cutoff) * (1 + 8 * eps + 0x1p-30) + eps * double(period)) / k;
    }

    /// The cells per cutoff on an axis.
    template <class T, int Dim>
    int cells_per_cutoff(cell_list_options<T, Dim> const& options, int axis)
    {
      int const wanted = options.cells_per_cutoff[axis];
      return wanted > 0 ? wanted : axis == Dim - 1 ? 2 : 1;
    }

    /// The grid for points between `lower` and `upper`, which are ignored on a periodic axis, where points lie
    /// in [0, L). Throws nearfield::error for a cutoff that is not positive and finite or whose square is no
    /// normal number of T, a period that is negative, not finite or below 2 R, cells_per_cutoff below 0 or
    /// above max_cells_per_cutoff, and points further apart than the largest double.
    template <class T, int Dim>
    cell_grid<T, Dim> make_cell_grid(std::type_identity_t<std::array<T, Dim>> const& lower,
                                     std::type_identity_t<std::array<T, Dim>> const& upper,
                                     T cutoff, cell_list_options<T, Dim> const& options)
    {
      check_cell_options(cutoff, options);
      cell_grid<T, Dim> grid;
      grid.cutoff = cutoff;
      grid.period = options.period;
      for (int a = 0; a < Dim; ++a)
      {
        int const k = cells_per_cutoff(options, a);
        double const least = least_width(cutoff, options.period[a], k);
        double const extent =
            options.period[a] > 0 ? double(options.period[a]) : double(upper[a]) - double(lower[a]);
        if (!std::isfinite(extent))
          throw error("cell_list: the extent of the points along axis " + std::to_string(a) +
                      " exceeds the largest double; use other units of length");
        double const fit = std::floor(extent / least);
        grid.reach[a] = k;
        if (options.period[a] > 0)
        {
          double const cells = fit < max_cells_per_axis ? fit : double(max_cells_per_axis);
          // With 2 k + 1 cells, two cells are within reach through at most one image.
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
          // wider cells than wanted, or fewer than k cells, shorten the reach
          if (!fits) grid.reach[a] = std::min(k, static_cast<int>(std::ceil(k * least / width)));
          grid.reach[a] = std::min(grid.reach[a], static_cast<int>(grid.cells[a]) - 1);
        }
      }
      return grid;
    }
  }
}
