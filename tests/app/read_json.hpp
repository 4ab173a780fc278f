#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace nearfield::test
{
  /// The scalars of a JSON file by their paths: "seconds.read", "rows.0.backend". Strings come without
  /// their quotes, an empty object or array as {} or [].
  using json_values = std::map<std::string, std::string>;

  /// Throws for what is not JSON.
  json_values read_json(std::filesystem::path const& path);
}
