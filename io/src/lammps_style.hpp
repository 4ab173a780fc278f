#pragma once

#include "column_map.hpp"
#include "text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// The columns of an Atoms section.
  struct atom_columns
  {
    std::string style; ///< in messages and reports: `atom style full`
    column_map map;
    std::vector<std::size_t> integers; ///< id, mol, flag ...: not the type, which may be a label
    std::size_t id = 0, type = 0;      ///< map.names.size(): none
  };

  /// By options.columns, options.atom_style or, if these are empty, the comment behind `Atoms`: a style, or the names of
  /// the columns. Throws nearfield::error for a style that is not known.
  atom_columns columns_of_atoms(std::string_view comment, read_options const& options,
                                place const& where);
}
