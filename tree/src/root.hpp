#pragma once

#include "column_bounds.hpp"
#include "keys.hpp"
#include "parallel.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <optional>

namespace nearfield::detail
{
  /// A set of points of a tree, and its name in messages.
  template <class T, int Dim>
  struct named_positions
  {
    strided<T const, Dim> positions;
    char const* name;
  };

  /// The keys of a tree's points. Throws nearfield::error for options that build_tree() refuses.
  template <int Dim>
  NEARFIELD_API key_layout layout_of(tree_options<Dim> const& options);

  /// The box around the points, [inf, -inf] if there are none. Throws nearfield::error for a null column, 2^32 - 1
  /// points or more, and a coordinate that is not finite.
  template <class T, int Dim>
  NEARFIELD_API point_bounds<T, Dim> valid_bounds(executor& on,
                                                  named_positions<T, Dim> const& points);

  /// The cube around the least box around some points, as tree_options::root says.
  template <class T, int Dim>
  NEARFIELD_API cube<Dim> cube_around(point_bounds<T, Dim> const& bounds);

  /// The given box, checked, or the cube around the points of both sets, whose bounds these are.
  template <class T, int Dim>
  NEARFIELD_API cube<Dim>
  choose_root(std::optional<cube<Dim>> const& given, named_positions<T, Dim> const& targets,
              point_bounds<T, Dim> const& target_bounds, named_positions<T, Dim> const& sources,
              point_bounds<T, Dim> const& source_bounds);
}
