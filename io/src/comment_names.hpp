#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
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
