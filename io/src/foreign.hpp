#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace nearfield::detail::io
{
  /// The name of a format that nearfield does not read, and what to convert it to, by the name of the file or its first
  /// bytes; empty for others. Only the bytes count if `start` is not empty.
  std::string foreign_format(std::filesystem::path const& path, std::string_view start);

  /// Whether the first bytes are those of a file that gzip has compressed.
  bool is_gzip(std::string_view start);

  /// What gzip has compressed. Throws nearfield::error if it is damaged, or if nearfield was built without zlib.
  std::string inflated(std::string_view content, std::string const& name);
}
