#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace nearfield::test
{
  /// The scalars of a JSON file by path, such as "seconds.read" or "rows.0.backend". Strings are without
  /// quotes; an empty object or array is {} or [].
  using json_values = std::map<std::string, std::string>;

  /// Throws for invalid JSON.
  json_values read_json(std::filesystem::path const& path);
}
