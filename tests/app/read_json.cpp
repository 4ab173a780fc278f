#include "read_json.hpp"

// the only file that includes it: the compiler takes seconds for it
#include <nlohmann/json.hpp>

#include <fstream>

namespace nearfield::test
{
  namespace
  {
    void add(nlohmann::json const& value, std::string const& path, json_values& values)
    {
      if (value.is_structured() && !value.empty())
        for (auto const& [key, child] : value.items())
          add(child, path.empty() ? key : path + "." + key, values);
      else
        values[path] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }

  json_values read_json(std::filesystem::path const& path)
  {
    std::ifstream file(path);
    json_values values;
    add(nlohmann::json::parse(file), "", values);
    return values;
  }
}
