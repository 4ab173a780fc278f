#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// The one rule for the names of columns in all formats: what the program calls the column that a file calls `name`.
  /// x, vx, m, q, q2, phi, gx, ax, type ...; mvx for a component of momenta; empty if the name says nothing to it.
  std::string known_name(std::string_view name);

  /// The same for the `count` columns of one property, such as `pos`; `_` for those that say nothing.
  std::vector<std::string> known_names(std::string_view property, std::size_t count);

  /// The one of `names` that a file means by `title`: the title in lower case, without quotes and a unit; otherwise empty.
  std::string one_of(std::vector<std::string> const& names, std::string_view title);

  /// Whether columns of atoms have that name that are not values: id, mol ...
  bool is_label(std::string_view name);

  /// q -> 1, q3 -> 3; 0 for other names.
  std::size_t number_of(std::string_view name, std::string_view prefix);

  /// x vx -> 0, y vy -> 1, z vz -> 2; 3 for other names.
  std::size_t axis_of(std::string_view name, std::string_view prefix);

  /// `name` without the number of its column in front: x of `1:x`, `[1]x` and `[1]=x`.
  std::string_view without_number(std::string_view name);

  /// Whether one of the words is a name for that.
  bool has_name(std::vector<std::string_view> const& words, std::string_view name);

  /// The names of n columns in a comment, all of it or the words around x y; empty if it has none. `mentions`: but it
  /// has some names.
  std::vector<std::string_view> names_in(std::string_view comment, std::optional<std::size_t> n,
                                         bool& mentions);

  /// Whether the comment may be a list of names, whatever columns they are of: n words, or two known names, and no prose.
  bool lists_names(std::string_view comment, std::size_t n);

  /// Whether a word of the text may be the name of a column.
  bool has_known_name(std::string_view text);

  /// Whether the text has a name for x that one for y follows.
  bool names_x_before_y(std::string_view comment);
}
