#pragma once

#include <string_view>

namespace nearfield::detail::io
{
  /// Whether the first line is a whole number alone, as in XYZ.
  bool is_xyz(std::string_view content);
}
