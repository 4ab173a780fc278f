#pragma once

#include <nearfield/core/cell.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

/// \file
/// Points brought into a box, before they are sorted.

namespace nearfield::detail
{
  template <class T, int Dim>
  std::array<T, Dim> point_at(strided<T const, Dim> const& points, std::size_t i)
  {
    std::array<T, Dim> x;
    for (int a = 0; a < Dim; ++a) x[a] = points[a][i];
    return x;
  }

  template <class T, std::size_t Dim>
  std::array<double, Dim> widened(std::array<T, Dim> const& x)
  {
    std::array<double, Dim> wide;
    for (std::size_t a = 0; a < Dim; ++a) wide[a] = double(x[a]);
    return wide;
  }

  /// Points in the box, and how often its vectors were subtracted: those of the caller, or images of them.
  template <class T, int Dim>
  struct reduced_points
  {
    strided<T const, Dim> x;
    std::span<image_counters<Dim> const> images; ///< by index; empty if all points were inside
    points_along<Dim> bounds;

    page_vector<T> moved; ///< columns of the images
    page_vector<image_counters<Dim>> counters;
  };

  /// Where points are. Throws nearfield::error, naming the point of this set, for a coordinate that is not finite.
  template <class T, int Dim>
  NEARFIELD_API points_along<Dim>
  bounds_along(executor& on, cell_frame<Dim> const& frame, strided<T const, Dim> const& points,
               char const* name, char const* function = "cell_list");

  /// Whether no point lies outside the box along a periodic axis.
  template <int Dim>
  bool are_inside(cell_frame<Dim> const& frame, points_along<Dim> const& bounds)
  {
    bool inside = true;
    for (int a = 0; a < Dim; ++a)
    {
      // bounds of aligned frames are coordinates
      double const begin = frame.is_aligned ? frame.origin[a] : 0;
      if (frame.periodic[a])
        inside &=
            frame.holds(a, bounds.lower[a] - begin) && frame.holds(a, bounds.upper[a] - begin);
    }
    return inside;
  }

  /// The first n values of columns that lie in one array, one after another.
  template <int Dim, class T>
  soa<T, Dim> columns_in(std::span<T> values, std::size_t n, std::size_t first = 0)
  {
    std::array<T*, Dim> columns;
    for (std::size_t a = 0; a < Dim; ++a)
      columns[a] = values.data() + a * (values.size() / Dim) + first;
    return {columns, n};
  }

  /// Writes the image of each point in the box, and how often its vectors were subtracted. Throws nearfield::error, naming
  /// the point of this set, for one too far away to count its images.
  template <class T, int Dim>
  NEARFIELD_API void bring_inside(executor& on, cell_frame<Dim> const& frame,
                                  strided<T const, Dim> const& points, char const* name,
                                  soa<T, Dim> const& to,
                                  std::type_identity_t<image_counters<Dim>>* counters,
                                  char const* function = "cell_list");

  /// Brings points into the box, if any is outside. Throws nearfield::error as bounds_along() and bring_inside() do.
  template <class T, int Dim>
  NEARFIELD_API void reduce_points(executor& on, cell_frame<Dim> const& frame,
                                   strided<T const, Dim> const& points, char const* name,
                                   reduced_points<T, Dim>& to, char const* function = "cell_list");

  /// Minus the image of each point, by position, from those by index.
  template <int Dim>
  void write_moves(executor& on, cell_frame<Dim> const& frame,
                   std::type_identity_t<std::span<image_counters<Dim> const>> images,
                   std::span<index_type const> order, std::array<double, 3>* moves);

  /// Of two sets, each with at least one point.
  template <int Dim>
  points_along<Dim> united(points_along<Dim> of, points_along<Dim> const& other)
  {
    for (int a = 0; a < Dim; ++a)
    {
      of.lower[a] = std::min(of.lower[a], other.lower[a]);
      of.upper[a] = std::max(of.upper[a], other.upper[a]);
    }
    of.largest = std::max(of.largest, other.largest);
    of.moved |= other.moved;
    return of;
  }
}
