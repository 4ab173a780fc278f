#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace nearfield::detail
{
  /// A set of points of a tree, and its name in messages.
  template <class T, int Dim>
  struct named_positions
  {
    strided<T const, Dim> positions;
    char const* name;
  };

  /// "point 3 of targets at (1, 2, nan)"
  template <class T, int Dim>
  std::string describe(named_positions<T, Dim> const& points, std::size_t i);

  /// Throws nearfield::error for a null column, 2^32 - 1 points or more, and a
  /// coordinate that is not finite.
  template <class T, int Dim>
  void require_valid(named_positions<T, Dim> const& points);

  /// The given box, checked, or the cube around all points of both sets.
  template <class T, int Dim>
  cube<Dim> choose_root(std::optional<cube<Dim>> const& given,
                        named_positions<T, Dim> const& targets,
                        named_positions<T, Dim> const& sources);
}
