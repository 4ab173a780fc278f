#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// The one rule for the names of columns in all formats: what the program calls the column that a file calls `name`.
  /// x, vx, m, q, q2, phi, gx, ax ...; mvx for a component of momenta; empty if the name says nothing to it.
  std::string known_name(std::string_view name);

  /// The same for the `count` columns of one property, such as `pos`; `_` for those that say nothing.
  std::vector<std::string> known_names(std::string_view property, std::size_t count);

  /// Whether columns of atoms have that name that are not values: id, type, mol ...
  bool is_label(std::string_view name);

  /// q -> 1, q3 -> 3; 0 for other names.
  std::size_t number_of(std::string_view name, std::string_view prefix);

  /// x vx -> 0, y vy -> 1, z vz -> 2; 3 for other names.
  std::size_t axis_of(std::string_view name, std::string_view prefix);

  /// `name` without the number of its column in front: x of `1:x`, `[1]x` and `[1]=x`.
  std::string_view without_number(std::string_view name);
}
