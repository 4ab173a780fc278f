#pragma once

#include "column_map.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace nearfield::detail::io
{
  /// Whether a line of columns is a row, or a header: neither blank nor a comment.
  bool is_row(std::string_view line);

  /// Whether the first line is a whole number alone, as in XYZ.
  bool is_xyz(std::string_view content);

  /// As parse_columns() does, of rows whose columns the format says, without a header.
  point_set parse_rows(std::string_view rows, std::size_t lines_before, std::string const& name,
                       read_options const& options, column_map const& known, file_report* report);
}
