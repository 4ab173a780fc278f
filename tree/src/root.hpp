#pragma once

#include "column_bounds.hpp"
#include "keys.hpp"

#include <nearfield/core/parallel.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <array>
#include <type_traits>

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
  template <class T, int Dim>
  NEARFIELD_API key_layout layout_of(tree_options<Dim> const& options);

  /// The box around the points, [inf, -inf] if there are none. Throws nearfield::error for a null column, 2^32 - 1
  /// points or more, and a coordinate that is not finite or, on a periodic axis, outside [0, L).
  template <class T, int Dim>
  NEARFIELD_API point_bounds<T, Dim>
  valid_bounds(executor& on, named_positions<T, Dim> const& points,
               std::type_identity_t<std::array<double, Dim>> const& period);

  /// The cube around a box, and half the largest period.
  template <int Dim>
  NEARFIELD_API cube<Dim> cube_around(std::array<double, Dim> const& lower,
                                      std::array<double, Dim> const& upper,
                                      std::array<double, Dim> const& period);

  /// The given box, checked, or the cube around the points of both sets, whose bounds these are, and half the largest
  /// period. On periodic axes its centre is that of the periodic box. Bounds may be those of more points than there are
  /// here: a given box is checked against these points, the cube is made of the bounds alone.
  template <class T, int Dim>
  NEARFIELD_API cube<Dim>
  choose_root(tree_options<Dim> const& options, named_positions<T, Dim> const& targets,
              point_bounds<T, Dim> const& target_bounds, named_positions<T, Dim> const& sources,
              point_bounds<T, Dim> const& source_bounds);
}
