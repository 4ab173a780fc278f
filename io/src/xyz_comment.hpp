#pragma once

#include "column_map.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// What the second line of a frame of XYZ says: key=value, in any case of the keys; other text is ignored.
  struct xyz_comment
  {
    named_columns columns; ///< by Properties=, otherwise a symbol, x, y and z
    bool has_properties = false;
    std::optional<periodic_cell> cell; ///< by Lattice=, Origin= and pbc=
    std::vector<std::string> left_out; ///< what else is said of a box
  };

  /// Throws nearfield::error, naming the line, for values that cannot be read.
  xyz_comment read_xyz_comment(std::string_view comment, std::string const& name, std::size_t line);
}
