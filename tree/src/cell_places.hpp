#pragma once

#include "keys.hpp"
#include "reduce.hpp"
#include "root.hpp"

#include <nearfield/core/cell.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

/// \file
/// Where points lie in a box of any shape: build_tree() cuts the box by these places, and so do ranks.

namespace nearfield::detail
{
  /// The place along the normal of an axis of a point in the reduced cell.
  template <class T, int Dim>
  double place_along(cell_frame<Dim> const& frame, std::array<T, Dim> const& u, int axis)
  {
    if (frame.is_aligned && !frame.periodic[axis]) return double(u[axis]);
    double const along = frame.along(axis, widened(u));
    // rounding may put a point on the far face, or before the near one
    return frame.periodic[axis] ? std::clamp(along, 0., std::nextafter(frame.thickness[axis], 0.))
                                : along;
  }

  /// Points of a set that are brought into the box, and their places along its normals: a tree of these has the box
  /// [0, thickness) along each periodic axis.
  template <class T, int Dim>
  struct points_in_cell
  {
    reduced_points<T, Dim> inside;
    page_vector<double> columns;

    /// Throws what build_tree() throws.
    void load(executor& on, cell_frame<Dim> const& frame, named_positions<T, Dim> const& points)
    {
      valid_bounds(on, points, {});
      reduce_points(on, frame, points.positions, points.name, inside, "build_tree");
      std::size_t const n = points.positions.size();
      renew(columns, Dim * n);
      for_each_part(on, cut(on, n),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t i = begin; i < end; ++i)
                        for (int a = 0; a < Dim; ++a)
                          columns[a * n + i] = place_along<T, Dim>(frame, point_at(inside.x, i), a);
                    });
    }

    [[nodiscard]] strided<double const, Dim> places() const
    {
      std::size_t const n = inside.x.size();
      std::array<double const*, Dim> first;
      for (int a = 0; a < Dim; ++a) first[a] = columns.data() + a * n;
      return soa<double const, Dim>(first, n);
    }
  };

  /// As write_keys(), of points in the box.
  template <class T, int Dim>
  void write_keys_in_cell(cell_frame<Dim> const& frame, strided<T const, Dim> const& points,
                          std::size_t begin, std::size_t end, std::array<key_axis, Dim> const& axes,
                          key_layout const& layout, std::uint64_t* to)
  {
    constexpr std::size_t block = 256;
    double places[Dim][block];
    std::array<double const*, Dim> first;
    for (int a = 0; a < Dim; ++a) first[a] = places[a];
    for (; begin < end; begin += block)
    {
      std::size_t const n = std::min(block, end - begin);
      for (std::size_t i = 0; i < n; ++i)
        for (int a = 0; a < Dim; ++a)
          places[a][i] = place_along<T, Dim>(frame, point_at(points, begin + i), a);
      write_keys(strided<double const, Dim>(soa<double const, Dim>(first, n)), 0, n, axes, layout,
                 to + begin);
    }
  }
}
