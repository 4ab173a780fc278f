#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/soa.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>

namespace nearfield
{
  namespace detail
  {
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
  }

  /// Moves points into the periodic box [lower_d, lower_d + L_d) on each axis d, by multiples of L_d, in the precision of
  /// the points; an axis of L_d = 0 is open and stays as it is. No result is lower_d + L_d, as that of
  /// x - floor(x / L) L may be by rounding, and points inside keep their bits. x is a view of columns (soa or strided,
  /// with any stride); L and lower have the type of the points or another:
  ///
  ///     nearfield::wrap(nearfield::soa{x, y, z}, {10, 10, 0});
  ///
  /// Trees and cell lists have boxes whose lower ends are 0, and take L in the precision of the points. Throws
  /// nearfield::error, before it writes, for a coordinate on a periodic axis that is not finite, a length that is negative
  /// or not finite, and one so small that lower_d + L_d = lower_d.
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
                    " is lost beside the lower end " + detail::number_text(lower[d]) +
                    " in this precision; move the points, or give a longer box");
      for (std::size_t i = 0; i < points.size(); ++i)
        if (!std::isfinite(points[d][i]))
          throw error("wrap: coordinate " + std::to_string(d) + " of point " + std::to_string(i) +
                      " is " + detail::number_text(points[d][i]) + "; give finite coordinates");
    }
    for (int d = 0; d < n; ++d)
      if (period[d] > 0)
        for (std::size_t i = 0; i < points.size(); ++i)
          points[d][i] =
              detail::wrapped(points[d][i], static_cast<T>(lower[d]), static_cast<T>(period[d]));
  }
}
