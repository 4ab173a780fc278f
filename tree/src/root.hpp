#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cube.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace nearfield::detail
{
  /// The points of a tree: one set or two, and how messages call them.
  template <class T, int Dim>
  struct point_set
  {
    soa<T const, Dim> positions;
    char const* name;
  };

  /// "point 3 of targets at (1, 2, nan)"
  template <class T, int Dim>
  std::string describe(point_set<T, Dim> const& points, std::size_t i);

  /// Throws error unless there are columns, fewer than 2^32 - 1 points, and every coordinate is
  /// finite.
  template <class T, int Dim>
  void require_valid(point_set<T, Dim> const& points);

  /// The box given, checked; else the cube around all points of both sets.
  template <class T, int Dim>
  cube<Dim> choose_root(std::optional<cube<Dim>> const& given, point_set<T, Dim> const& targets,
                        point_set<T, Dim> const& sources);
}
