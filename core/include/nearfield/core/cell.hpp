#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/soa.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

/// \file
/// The box that points repeat in: a cell of any shape, and which image of a point is meant.

namespace nearfield
{
  /// A parallelepiped that repeats along the vectors whose flag is set; by default none is. The vector of an open axis is
  /// ignored and may be zero.
  ///
  ///     nearfield::cell<3> const tilted{.vectors = {{{4, 0, 0}, {1, 3, 0}, {}}}, .periodic = {true, true, false}};
  ///     auto const layer = nearfield::cell<3>::of_lengths(std::array{10., 10., 0.});
  template <int Dim>
  struct cell
  {
    /// one a row, of either handedness, length^1
    std::array<std::array<double, Dim>, Dim> vectors{};
    std::array<bool, Dim> periodic{}; ///< whether it repeats along each vector
    std::array<double, Dim> origin{}; ///< a corner, length^1

    /// Whether it repeats along any vector.
    [[nodiscard]] bool is_periodic() const { return periodic != std::array<bool, Dim>(); }

    /// The box from 0 to L_a along each axis a, which is open where L_a is 0.
    template <std::floating_point L>
    [[nodiscard]] static cell of_lengths(std::array<L, Dim> const& lengths)
    {
      cell box;
      for (int a = 0; a < Dim; ++a)
      {
        box.vectors[a][a] = double(lengths[a]);
        box.periodic[a] = lengths[a] != 0;
      }
      return box;
    }
  };

  namespace detail
  {
    /// How often the vectors of a cell are added to a point: 0 on open axes.
    template <int Dim>
    using image_counters = std::array<std::int32_t, Dim>;

    /// Whether the first counter other than 0 is positive: a half list keeps these images of a point itself and leaves out
    /// the opposite ones.
    template <std::size_t Dim>
    [[nodiscard]] NEARFIELD_FN bool is_positive(std::array<std::int32_t, Dim> const& image)
    {
      for (std::size_t a = 0; a < Dim; ++a)
        if (image[a] != 0) return image[a] > 0;
      return false;
    }

    /// A point x = at + image vectors, with `at` in the cell.
    template <class T, int Dim>
    struct reduced_point
    {
      std::array<T, Dim> at;
      image_counters<Dim> image;
      /// false: a counter is above max_image, or the point is not finite along a periodic axis
      bool fits;
    };

    /// The reduced form of a cell, which decides about images. The host makes it once, and all back-ends use the same bytes.
    ///
    /// A reduced basis spans the same lattice, so a sheared cell costs no more than a cube. A point lies in the reduced
    /// cell if 0 <= along(a) < thickness[a] on periodic axes, up to rounding. Two points are at least as far apart as
    /// they are along a normal, so a grid of cells wider than a cutoff along each normal loses no pair.
    ///
    /// Where vectors lie along the axes, along(a, x) = x_a - origin_a and thickness[a] = L_a, without rounding.
    ///
    /// Each operation is rounded by itself: files that call along(), reduce() or shift() are compiled without
    /// contraction to fma.
    template <int Dim>
    struct cell_frame
    {
      using row = std::array<double, Dim>;
      using matrix = std::array<row, Dim>;

      /// The most that a counter may be, so that sums of three do not overflow.
      static constexpr double max_image = (1 << 29) - 1;

      matrix vectors{};                 ///< as given; on open axes unit vectors, length^1
      std::array<bool, Dim> periodic{}; ///< as given
      row origin{};                     ///< as given, length^1
      /// whole numbers: row a of the reduced basis is the sum of basis[a][b] vectors[b]
      matrix basis{};
      matrix reduced{}; ///< the reduced basis, and the vectors of open axes
      matrix normals{}; ///< unit vectors, orthogonal to all of `reduced` but one
      /// the distance of two faces on periodic axes, length^1; 0 on open ones
      row thickness{};
      /// normal a is the unit vector of axis a
      bool is_aligned = true;

      /// Open on all axes.
      constexpr cell_frame()
      {
        for (int a = 0; a < Dim; ++a)
          vectors[a][a] = basis[a][a] = reduced[a][a] = normals[a][a] = 1;
      }
      /// Throws nearfield::error for vectors that are not finite, or dependent on each other.
      NEARFIELD_API explicit cell_frame(cell<Dim> const& given);

      /// How far x lies from the face through the origin, along the normal of an axis.
      [[nodiscard]] NEARFIELD_FN double along(int axis, row const& x) const
      {
        if (is_aligned) return x[axis] - origin[axis];
        double sum = product(x[0] - origin[0], normals[axis][0]);
        for (int b = 1; b < Dim; ++b) sum += product(x[b] - origin[b], normals[axis][b]);
        return sum;
      }

      /// Whether a point that lies so far along the normal of a periodic axis is in the cell.
      [[nodiscard]] NEARFIELD_FN bool holds(int axis, double along) const
      {
        return std::floor(along / thickness[axis]) == 0;
      }

      /// The image of a point in the cell, in the precision of the point; a point whose counters are 0 keeps its bits.
      template <class T>
      [[nodiscard]] NEARFIELD_FN reduced_point<T, Dim> reduce(std::array<T, Dim> const& x) const
      {
        row at{}, image{};
        for (int a = 0; a < Dim; ++a) at[a] = double(x[a]);
        // the second turn sees what a point far away lost by rounding
        for (int turn = 0; turn < 2; ++turn)
        {
          row cells{};
          bool moves = false;
          for (int a = 0; a < Dim; ++a)
            if (periodic[a])
            {
              cells[a] = std::floor(along(a, at) / thickness[a]);
              moves |= cells[a] != 0; // true for NaN
            }
          if (!moves) break;
          row const step = image_of(cells), moved = shift(step);
          for (int a = 0; a < Dim; ++a)
          {
            image[a] += step[a];
            at[a] -= moved[a];
          }
        }
        reduced_point<T, Dim> point{x, {}, true};
        bool moves = false;
        for (int a = 0; a < Dim; ++a)
        {
          moves |= image[a] != 0;
          point.fits &= std::fabs(image[a]) <= max_image;
        }
        for (int a = 0; a < Dim && moves && point.fits; ++a)
        {
          point.at[a] = static_cast<T>(at[a]);
          point.image[a] = static_cast<std::int32_t>(image[a]);
        }
        return point;
      }

      /// image_of() and shift() in 32-bit numbers.
      [[nodiscard]] NEARFIELD_FN image_counters<Dim>
      image_of(std::array<int, Dim> const& cells) const
      {
        row wide{};
        for (int a = 0; a < Dim; ++a) wide[a] = cells[a];
        wide = image_of(wide);
        image_counters<Dim> image{};
        // more than max_image stays so
        for (int a = 0; a < Dim; ++a)
          image[a] = static_cast<std::int32_t>(std::fmin(std::fmax(wide[a], -0x1p30), 0x1p30));
        return image;
      }
      [[nodiscard]] NEARFIELD_FN row shift(image_counters<Dim> const& image) const
      {
        row wide{};
        for (int a = 0; a < Dim; ++a) wide[a] = image[a];
        return shift(wide);
      }

      /// Converts a number of reduced cells along each axis to counters of `vectors`.
      [[nodiscard]] NEARFIELD_FN row image_of(row const& cells) const
      {
        row image{};
        for (int a = 0; a < Dim; ++a)
          for (int b = 0; b < Dim; ++b) image[b] += product(cells[a], basis[a][b]);
        return image;
      }

      /// What the counters of an image, as whole numbers, add to a point: their sum times the vectors, length^1.
      [[nodiscard]] NEARFIELD_FN row shift(row const& image) const
      {
        row sum{};
        for (int a = 0; a < Dim; ++a)
          for (int b = 0; b < Dim; ++b) sum[b] += product(image[a], vectors[a][b]);
        return sum;
      }

    private:
      /// What contraction must not take.
      static NEARFIELD_FN double product(double a, double b)
      {
#ifdef __CUDA_ARCH__
        return __dmul_rn(a, b);
#else
        return a * b;
#endif
      }
    };

    /// The image of x in [lower, lower + period).
    template <std::floating_point T>
    T wrapped(T x, T lower, T period)
    {
      if (x >= lower && x < lower + period) return x;
      T offset = x - lower;
      if (!std::isfinite(offset)) offset = std::fmod(x, period) - std::fmod(lower, period);
      offset = std::fmod(offset, period); // exact
      if (offset < 0) offset += period;
      T const image = lower + offset;
      // Rounding may reach the upper end, which is the image of the lower one.
      return image >= lower && image < lower + period ? image : lower;
    }

    [[noreturn]] NEARFIELD_API void refuse_to_wrap(int axis, std::size_t point, double coordinate);

    /// Null images: they are not wanted.
    template <class T, int Dim>
    NEARFIELD_API void wrap(strided<T, Dim> const& points, cell<Dim> const& box,
                            strided<std::int32_t, Dim> const* images);

    // remedy: soa or strided, with Dim = 2 or 3 columns of float or double
    template <class X, int Dim>
    concept wrappable = columns_view<X> && X::n_columns == Dim && (Dim == 2 || Dim == 3) &&
                        (std::same_as<typename X::value_type, float> ||
                         std::same_as<typename X::value_type, double>);
  }

  /// Moves points into the periodic box [lower_d, lower_d + L_d) on each axis d, by multiples of L_d, in the precision of
  /// the points; an axis of L_d = 0 is open and stays as it is. No result is lower_d + L_d, as that of
  /// x - floor(x / L) L may be by rounding, and points inside keep their bits. x is a view of columns (soa or strided,
  /// with any stride); L and lower have the type of the points or another:
  ///
  ///     nearfield::wrap(nearfield::soa{x, y, z}, {10, 10, 0});
  ///
  /// With lower = 0 these are the boxes that `.period` of trees and cell lists describes, with L in the precision of the
  /// points. Throws nearfield::error, before it writes, for a coordinate on a periodic axis that is not finite, a length
  /// that is negative or not finite, and one so small that lower_d + L_d = lower_d.
  template <detail::columns_view X, std::floating_point L = double>
  void wrap(X const& x, std::array<L, X::n_columns> const& period,
            std::array<L, X::n_columns> const& lower = {})
  {
    using T = typename X::value_type;
    constexpr int n = X::n_columns;
    strided<T, n> const points = x;
    for (int d = 0; d < n; ++d)
    {
      if (period[d] == 0) continue;
      T const length = static_cast<T>(period[d]), begin = static_cast<T>(lower[d]);
      std::string const axis = " of axis " + std::to_string(d);
      if (!(period[d] > 0) || !std::isfinite(length) || !std::isfinite(begin + length))
        throw error("wrap: the box" + axis + " begins at " + detail::number_text(lower[d]) +
                    " and is " + detail::number_text(period[d]) +
                    " long; give a finite begin and a positive, finite length, or length 0 for an "
                    "open axis");
      if (!(begin < begin + length))
        throw error("wrap: the length " + detail::number_text(period[d]) + axis +
                    " is below the rounding of the lower end " + detail::number_text(lower[d]) +
                    " in this precision; move the points, or give a longer box");
      for (std::size_t i = 0; i < points.size(); ++i)
        if (!std::isfinite(points[d][i])) detail::refuse_to_wrap(d, i, double(points[d][i]));
    }
    for (int d = 0; d < n; ++d)
      if (period[d] > 0)
        for (std::size_t i = 0; i < points.size(); ++i)
          points[d][i] =
              detail::wrapped(points[d][i], static_cast<T>(lower[d]), static_cast<T>(period[d]));
  }

  /// Moves points into the reduced cell of a box of any shape, as trees and cell lists do: x becomes u = x - sum_a w_a
  /// vectors_a with whole numbers w. The reduced cell tiles space as the box does; of a sheared box it has other faces.
  /// Points inside keep their bits; w of others is found in double, and u is rounded once to the precision of the points,
  /// which may put it on a face.
  ///
  ///     nearfield::wrap(nearfield::soa{x, y, z}, box);
  ///
  /// Throws nearfield::error, before it writes, for vectors that are not finite or dependent on each other, a coordinate
  /// that is not finite where that decides about w, and a point more than 2^29 boxes away.
  template <int Dim, detail::wrappable<Dim> X>
  void wrap(X const& x, cell<Dim> const& box)
  {
    detail::wrap<typename X::value_type, Dim>(x, box, nullptr);
  }

  /// The same; w of each point becomes a row of `images`, columns of std::int32_t, which are 0 on open axes.
  template <int Dim, detail::wrappable<Dim> X, detail::columns_view W>
    requires(std::same_as<typename W::value_type, std::int32_t> && W::n_columns == Dim)
  void wrap(X const& x, cell<Dim> const& box, W const& images)
  {
    strided<std::int32_t, Dim> const counters = images;
    detail::wrap<typename X::value_type, Dim>(x, box, &counters);
  }
}
