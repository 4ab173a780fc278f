#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/io/atomic_file.hpp>

#include <filesystem>
#include <string>

namespace nearfield::app
{
  /// Whether both names lead to one file, also through links, or would.
  inline bool same_file(std::filesystem::path const& a, std::filesystem::path const& b)
  {
    std::error_code none;
    auto const place = [&](std::filesystem::path const& path)
    {
      // absolute first: of a name without a folder that does not exist yet nothing is canonical
      return std::filesystem::weakly_canonical(std::filesystem::absolute(path), none);
    };
    return std::filesystem::equivalent(a, b, none) || place(a) == place(b);
  }

  /// Throws error where a file cannot be written there: a long computation asks before it starts.
  inline void check_writable_place(std::filesystem::path const& path)
  {
    atomic_file const probe(path);
  }

  /// Throws error where writing `path`, named by `option`, would destroy the file `read`.
  inline void check_not_same(char const* option, std::filesystem::path const& path,
                             std::filesystem::path const& read)
  {
    if (same_file(path, read))
      throw error(std::string(option) + ": " + path.string() + " is also " + read.string() +
                  ", which this run reads or writes; give another name");
  }
}
