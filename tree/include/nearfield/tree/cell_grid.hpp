#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/cell.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

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
  }

  /// What a skin is the most of, before a list is built again.
  enum class skin_meaning
  {
    total, ///< how much closer two points may come: each moves by half of it, and cells reach R + skin
    each ///< how far a point may move: cells reach R + 2 skin
  };

  /// The box that points are in, which pairs count, and how a search cuts space into cells.
  template <class T, int Dim>
  struct cell_list_options
  {
    /// The number of cells per cutoff along each axis; 0 is the default, which is 1, and 2 along the last axis: 3 there if
    /// it is periodic and 2 make 3 cells and 3 make 5.
    std::array<int, Dim> cells_per_cutoff{};
    /// Short for .cell = cell<Dim>::of_lengths(period): the length L of the periodic box [0, L) along each axis; 0 for
    /// an open axis.
    std::array<T, Dim> period{};
    /// A box of any shape that points repeat in; open by default.
    nearfield::cell<Dim> cell{};
    /// Whether a pair at the distance of the cutoff counts: r2 <= R^2 instead of r2 < R^2.
    bool closed = false;
    /// How far points may move until cell_list::update() builds the list again, length^1. Pairs are those within R.
    double skin = 0;
    nearfield::skin_meaning skin_is = nearfield::skin_meaning::total; ///< what is meant by it
  };

  /// Several systems in one cell list, none of which has a pair with a point of another. System s has the points
  /// [offsets[s], offsets[s + 1]). What is given once holds for all.
  template <int Dim>
  struct systems
  {
    /// one more than systems, ascending from 0 to the number of points
    detail::kept_span<index_type const> offsets{};
    detail::kept_span<index_type const> query_offsets{}; ///< the same of the queries, with two sets
    detail::kept_span<double const> cutoffs{};           ///< R of each system, or of all, length^1
    /// the box of each system, or of all; none: open boxes
    detail::kept_span<cell<Dim> const> cells{};
    /// where points of systems are mixed, as systems_of() gives it: system s has the points order[k] for the k in
    /// [offsets[s], offsets[s + 1])
    detail::kept_span<index_type const> order{};
    detail::kept_span<index_type const> query_order{}; ///< the same of the queries
  };

  namespace detail
  {
    /// The box of all systems of a list, or of each: those of the last call if there are none. It outlives the call.
    template <int Dim>
    struct given_cells
    {
      std::span<cell<Dim> const> of; ///< one, or one a system

      given_cells() = default;
      /// One for all.
      given_cells(cell<Dim> const& one) : of(&one, 1) {} // NOLINT(google-explicit-constructor)
      /// One for each.
      given_cells(kept_span<cell<Dim> const> each)
          : of(each) {} // NOLINT(google-explicit-constructor)
      /// One for each.
      given_cells(std::vector<cell<Dim>> const& each)
          : of(each) {} // NOLINT(google-explicit-constructor)
    };
  }

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
    /// apart along each axis. All back-ends share this definition, since it decides the order of results.
    ///
    /// Along axis a the cell of x is floor((along - lower) * inverse_width), clamped to 0 ... cells - 1, where `along` is
    /// double(x_a) in a frame that is aligned with the axes, and how far x lies along the normal of the axis in another.
    /// Where that would be more than max_cells_per_axis cells, a cell list leaves long gaps between points out: each
    /// piece of the axis has cells of its own, and `reach` empty cells follow it.
    template <class T, int Dim>
    struct cell_grid
    {
      T cutoff = 0; ///< R, length^1
      /// limit_of_squares()
      T cutoff_squared = 0;
      std::array<double, Dim> lower{}; ///< the lower end of cell 0 along each axis, length^1
      std::array<double, Dim> inverse_width{}; ///< 1 / width of a cell along each axis, length^-1
      std::array<std::uint32_t, Dim> cells{};  ///< the number of cells along each axis
      /// How many cells away neighbours may be along each axis. Where the axis wraps, more than there are cells: a point
      /// meets several images of another.
      std::array<int, Dim> reach{};
      /// No pair that is found is further apart along an axis, whatever is rounded; length^1
      std::array<double, Dim> farthest{};
      std::array<bool, Dim> wraps{}; ///< whether the first cell follows the last one
      cell_frame<Dim> frame{};       ///< of the box that points repeat in
      /// of each axis, in memory of the cell list; none: no gap is left out
      std::array<axis_pieces, Dim> pieces{};

      /// How far x lies along an axis.
      [[nodiscard]] NEARFIELD_FN double along(int axis, std::array<T, Dim> const& x) const
      {
        if (frame.is_aligned) return double(x[axis]);
        std::array<double, Dim> wide{};
        for (int a = 0; a < Dim; ++a) wide[a] = double(x[a]);
        return frame.along(axis, wide);
      }
      /// The place in cells, from the lower end of cell 0 on, if no gap is left out.
      [[nodiscard]] NEARFIELD_FN double place_without_pieces(int axis, double along) const
      {
        return (along - lower[axis]) * inverse_width[axis];
      }
      /// The same along any axis.
      [[nodiscard]] NEARFIELD_FN double place(int axis, double along) const
      {
        return pieces[axis].n == 0 ? place_without_pieces(axis, along)
                                   : pieces[axis].place(along, inverse_width[axis]);
      }

      /// The cell of a point along an axis.
      [[nodiscard]] NEARFIELD_FN std::uint32_t index(int axis, std::array<T, Dim> const& x) const
      {
        return index_of(axis, place(axis, along(axis, x)));
      }
      /// The cell of a place along an axis.
      [[nodiscard]] NEARFIELD_FN std::uint32_t index_of(int axis, double place) const
      {
        double const last = double(cells[axis] - 1);
        // written this way, the comparisons clamp both -0.1 and a rounded-up end
        return place > 0 ? static_cast<std::uint32_t>(place < last ? place : last) : 0u;
      }

      /// How many reduced cells away the farthest image is that points meet along an axis.
      [[nodiscard]] NEARFIELD_FN int most_images(int axis) const
      {
        int const n = static_cast<int>(cells[axis]);
        return wraps[axis] ? (n - 1 + reach[axis]) / n : 0;
      }
      /// Whether points meet a cell in several images along some axis.
      [[nodiscard]] NEARFIELD_FN bool meets_several_images() const
      {
        bool any = false;
        for (int a = 0; a < Dim; ++a)
          any |= wraps[a] && 2 * static_cast<std::int64_t>(reach[a]) + 1 > cells[a];
        return any;
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

    /// How much further than R cells reach.
    template <class T, int Dim>
    [[nodiscard]] NEARFIELD_FN double reach_beyond(cell_list_options<T, Dim> const& options)
    {
      return options.skin_is == skin_meaning::each ? 2 * options.skin : options.skin;
    }

    /// Throws nearfield::error if the cutoff, the box or cells_per_cutoff is not valid for a search.
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
      if (!(options.skin >= 0) || !std::isfinite(cutoff + static_cast<T>(reach_beyond(options))))
        throw error(name + "the skin is " + number_text(options.skin) +
                    "; give a positive, finite length, or 0");
      bool has_period = false;
      for (int a = 0; a < Dim; ++a)
      {
        if (options.cells_per_cutoff[a] < 0 || options.cells_per_cutoff[a] > max_cells_per_cutoff)
          throw error(name + "cells_per_cutoff is " + std::to_string(options.cells_per_cutoff[a]) +
                      " on axis " + std::to_string(a) + "; give 1 to " +
                      std::to_string(max_cells_per_cutoff) + ", or 0 for the default");
        check_period("cell_list", a, options.period[a]);
        has_period |= options.period[a] > 0;
      }
      if (has_period && options.cell.is_periodic())
        throw error(name + "both .cell and .period are given; give one of them");
    }

    /// The box of valid options.
    template <class T, int Dim>
    cell<Dim> box_of(cell_list_options<T, Dim> const& options)
    {
      return options.cell.is_periodic() ? options.cell : cell<Dim>::of_lengths(options.period);
    }
    /// Throws nearfield::error for vectors that span no box.
    template <int Dim>
    cell_frame<Dim> frame_of(cell<Dim> const& box)
    {
      return box.is_periodic() ? cell_frame<Dim>(box) : cell_frame<Dim>(); // which takes no time
    }
    template <class T, int Dim>
    cell_frame<Dim> frame_of(cell_list_options<T, Dim> const& options)
    {
      return frame_of(box_of(options));
    }

    /// Where points are in a frame.
    template <int Dim>
    struct points_along
    {
      std::array<double, Dim> lower{}, upper{}; ///< along each axis, as cell_grid::along()
      double largest = 0;                       ///< coordinate, without its sign
      bool moved = false;                       ///< whether they are images of those given
    };

    /// The test r2 < R^2 passes pairs a few eps R beyond the cutoff, and places are computed to 2^-30 of a cell.
    template <class T>
    inline constexpr double pair_slack =
        1 + 8 * double(std::numeric_limits<T>::epsilon()) + 0x1p-30;

    /// The most that two points of a pair that passes the test in T are apart along an axis; `cutoff` includes the skin.
    ///
    /// Where images meet, d may be as long as the cell when it is rounded, by eps / 2 of it, before the shift is
    /// subtracted. A point that was moved may lie a rounding outside the cell. Along the normals of oblique frames,
    /// places are rounded sums. In a box that is sheared, shifts are sums of long vectors that cancel.
    template <class T, int Dim>
    NEARFIELD_FN double farthest_along(double cutoff, cell_frame<Dim> const& frame,
                                       points_along<Dim> const& points, int axis)
    {
      constexpr double eps = std::numeric_limits<T>::epsilon(), eps64 = 0x1p-52;
      double const slack = points.moved ? eps * points.largest : 0;
      double rounding = 0;
      if (frame.is_aligned)
        rounding = eps * frame.thickness[axis];
      else
      {
        // the size of the box that holds all points, along each coordinate
        for (int b = 0; b < Dim; ++b)
        {
          double size = 0;
          for (int c = 0; c < Dim; ++c)
            size += (frame.periodic[c] ? 1 : points.upper[c] - points.lower[c]) *
                    std::fabs(frame.reduced[c][b]);
          rounding += eps * size * std::fabs(frame.normals[axis][b]);
        }
        double origin = 0;
        for (int b = 0; b < Dim; ++b) origin = std::max(origin, std::fabs(frame.origin[b]));
        rounding += 16 * eps64 * (points.largest + origin);
      }
      for (int c = 0; c < Dim; ++c)
      {
        bool is_sum = false;
        double sizes = 0;
        for (int b = 0; b < Dim; ++b)
        {
          is_sum |= frame.reduced[c][b] != frame.vectors[c][b];
          for (int a = 0; a < Dim; ++a)
            sizes += std::fabs(frame.basis[c][b]) * std::fabs(frame.vectors[b][a]);
        }
        if (frame.periodic[c] && is_sum)
          rounding += 4 * eps64 * (1 + cutoff / frame.thickness[c]) * sizes;
      }
      return cutoff * pair_slack<T> + rounding + slack;
    }

    /// The cells per cutoff along an axis.
    template <class T, int Dim>
    NEARFIELD_FN int cells_per_cutoff(cell_list_options<T, Dim> const& options, int axis)
    {
      int const wanted = options.cells_per_cutoff[axis];
      return wanted > 0 ? wanted : axis == Dim - 1 ? 2 : 1;
    }

    /// The most images in which points may meet.
    inline constexpr double max_images = 65535;

    /// Why there is no grid.
    enum class grid_problem : std::uint8_t
    {
      none,
      extent, ///< the points are further apart along an axis than the largest double
      images ///< the box is so thin along an axis that more than max_images images are within the cutoff
    };

    /// A grid, or why and along which axis there is none.
    template <class T, int Dim>
    struct tried_grid
    {
      cell_grid<T, Dim> grid{};
      grid_problem problem = grid_problem::none;
      int axis = 0;
    };

    /// What r2 of pairs within R is below: R^2, rounded once, or the number after it where R itself counts.
    template <class T>
    NEARFIELD_FN T limit_of_squares(T cutoff, bool closed)
    {
      T const square = cutoff * cutoff;
      return closed ? std::nextafter(square, std::numeric_limits<T>::infinity()) : square;
    }

    /// make_cell_grid() of valid options, without a throw. The device, in files compiled without contraction, makes the
    /// same bits.
    template <class T, int Dim>
    NEARFIELD_FN tried_grid<T, Dim> try_cell_grid(points_along<Dim> const& points, T cutoff,
                                                  cell_list_options<T, Dim> const& options,
                                                  cell_frame<Dim> const& frame)
    {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      tried_grid<T, Dim> made;
      cell_grid<T, Dim>& grid = made.grid;
      grid.cutoff = cutoff;
      grid.cutoff_squared = limit_of_squares(cutoff, options.closed);
      grid.frame = frame;
      double images = 1;
      for (int a = 0; a < Dim; ++a)
      {
        made.axis = a;
        int k = cells_per_cutoff(options, a);
        bool const wraps = frame.periodic[a];
        grid.farthest[a] =
            farthest_along<T>(double(cutoff) + reach_beyond(options), frame, points, a);
        grid.wraps[a] = wraps;
        double const extent = wraps ? frame.thickness[a] : points.upper[a] - points.lower[a];
        auto const cells_with = [&](int n)
        {
          return std::floor(extent / (grid.farthest[a] / n));
        };
        // a point meets those of 7 / 5 boxes instead of 5 / 3
        if (wraps && a == Dim - 1 && options.cells_per_cutoff[a] == 0 && cells_with(2) == 3 &&
            cells_with(3) == 5)
          k = 3;
        double const least = grid.farthest[a] / k;
        if (!(std::fabs(extent) < infinity))
        {
          made.problem = grid_problem::extent;
          return made;
        }
        double const fit = cells_with(k);
        bool const fits = fit < max_cells_per_axis;
        double width = 0, reach = k;
        if (wraps)
        {
          grid.lower[a] = frame.is_aligned ? frame.origin[a] : 0;
          grid.cells[a] = fits ? static_cast<std::uint32_t>(std::max(fit, 1.)) : max_cells_per_axis;
          width = extent / grid.cells[a];
          // one cell may be narrower than wanted, and a few ones much wider
          if (fit < 2 * k + 1) reach = std::ceil(grid.farthest[a] / width);
          if (fit >= 1) reach = std::min<double>(reach, k);
          images *= 2 * std::floor((grid.cells[a] - 1 + reach) / grid.cells[a]) + 1;
          if (!(images <= max_images))
          {
            made.problem = grid_problem::images;
            return made;
          }
        }
        else
        {
          grid.lower[a] = points.lower[a];
          grid.cells[a] = fits ? static_cast<std::uint32_t>(fit) + 1 : max_cells_per_axis;
          width = fits ? least : extent / max_cells_per_axis;
          // wider cells than wanted, or fewer than k cells, shorten the reach
          if (!fits) reach = std::min<double>(k, std::ceil(k * least / width));
          reach = std::min(reach, double(grid.cells[a]) - 1);
        }
        grid.reach[a] = static_cast<int>(reach);
        grid.inverse_width[a] = 1 / width;
      }
      return made;
    }

    /// Throws nearfield::error if there is no grid; `function` starts the message.
    template <class T, int Dim>
    void check_grid(tried_grid<T, Dim> const& made, std::string const& function)
    {
      std::string const axis = std::to_string(made.axis);
      if (made.problem == grid_problem::extent)
        throw error(function + ": the extent of the points along axis " + axis +
                    " exceeds the largest double; use other units of length");
      if (made.problem == grid_problem::images)
        throw error(function + ": the box is " + number_text(made.grid.frame.thickness[made.axis]) +
                    " thick along axis " + axis +
                    ", so that more than 65535 images are within the cutoff " +
                    number_text(made.grid.cutoff) +
                    "; give a smaller cutoff or several copies of the box");
    }

    /// The grid for these points, whose bounds are ignored along periodic axes, in the frame of the options. Throws
    /// nearfield::error as check_cell_options() does, for points further apart than the largest double, and for a box
    /// so thin that there are more than max_images images within the cutoff.
    template <class T, int Dim>
    cell_grid<T, Dim> make_cell_grid(points_along<Dim> const& points, T cutoff,
                                     cell_list_options<T, Dim> const& options,
                                     cell_frame<Dim> const& frame)
    {
      check_cell_options(cutoff, options);
      auto const made = try_cell_grid(points, cutoff, options, frame);
      check_grid(made, "cell_list");
      return made.grid;
    }

    /// In the frame that the options give.
    template <class T, int Dim>
    cell_grid<T, Dim> make_cell_grid(points_along<Dim> const& points, T cutoff,
                                     cell_list_options<T, Dim> const& options)
    {
      check_cell_options(cutoff, options);
      return make_cell_grid(points, cutoff, options, frame_of(options));
    }
  }
}
