#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

/// \file
/// The images of a periodic box that touch it. An image is the sum over the axes of 3^axis times the periods, -1, 0 or
/// 1, by which it is moved; lists know it by the number of its shift, which is 27 - s for the image opposite to s.

namespace nearfield::detail
{
  inline constexpr int n_images = 27; ///< the box itself included

  /// What one period along an axis adds to an image.
  constexpr int image_step(int axis)
  {
    return axis == 0 ? 1 : axis == 1 ? 3 : 9;
  }
  constexpr std::uint16_t shift_of(int image)
  {
    return static_cast<std::uint16_t>(image < 0 ? image + n_images : image);
  }
  constexpr std::uint16_t opposite(std::uint16_t shift)
  {
    return static_cast<std::uint16_t>(shift == 0 ? 0 : n_images - shift);
  }
  /// Of a shift and its opposite, the one by which a half list moves a box that meets itself.
  constexpr bool is_in_half(std::uint16_t shift)
  {
    return 2 * shift > n_images;
  }

  /// Whether any axis is periodic.
  template <class T, std::size_t Dim>
  bool any_period(std::array<T, Dim> const& period)
  {
    for (T const length : period)
      if (length > 0) return true;
    return false;
  }

  /// The shifts that lists index; none without a periodic axis.
  template <class T, std::size_t Dim>
  std::vector<std::array<double, 3>> shifts_of(std::array<T, Dim> const& period)
  {
    std::vector<std::array<double, 3>> shifts(any_period(period) ? n_images : 0);
    // digits of the image in base 3, one more than the periods
    for (int a = 0; a < static_cast<int>(Dim); ++a)
      for (int s = 0; period[a] > 0 && s < n_images; ++s)
        shifts[s][a] = ((s + n_images / 2) % n_images / image_step(a) % 3 - 1) * double(period[a]);
    return shifts;
  }

  /// Throws nearfield::error for periods that a tree of points in T cannot have.
  template <class T, std::size_t Dim>
  void check_periods(std::array<double, Dim> const& period)
  {
    for (std::size_t a = 0; a < Dim; ++a)
    {
      check_period("build_tree", static_cast<int>(a), period[a]);
      if (period[a] > 0 && !std::isnormal(static_cast<T>(period[a])))
        throw error("build_tree: the period " + number_text(period[a]) + " of axis " +
                    std::to_string(a) +
                    " underflows or overflows in the precision of the points; use other units of "
                    "length");
    }
  }
}
