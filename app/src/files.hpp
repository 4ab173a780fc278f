#pragma once

#include "io/src/atomic_file.hpp"

#include <nearfield/core/error.hpp>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace nearfield::app
{
  using nearfield::detail::atomic_file;

  /// Whether both names lead to the same file, directly or through links, existing or not.
  inline bool same_file(std::filesystem::path const& a, std::filesystem::path const& b)
  {
    std::error_code ignored;
    auto const place = [&](std::filesystem::path path)
    {
      // weakly_canonical resolves only what exists, so make the name absolute and follow links
      // without a target here
      path = std::filesystem::absolute(path, ignored);
      while (std::filesystem::status(path, ignored).type() ==
                 std::filesystem::file_type::not_found &&
             std::filesystem::is_symlink(path, ignored))
        path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
      return std::filesystem::weakly_canonical(path, ignored);
    };
    auto const place_of_a = place(a);
    // empty for a relative name if the working directory was removed
    return std::filesystem::equivalent(a, b, ignored) ||
           (!place_of_a.empty() && place_of_a == place(b));
  }

  /// In lower case, with its dot.
  inline std::string extension_of(std::filesystem::path const& path)
  {
    std::string extension = path.extension().string();
    for (char& c : extension)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return extension;
  }

  /// Throws nearfield::error if `path` cannot be written. For checks before a long computation.
  inline void check_writable_place(std::filesystem::path const& path)
  {
    atomic_file const probe(path);
  }

  /// Whether --json takes standard output; what is printed for people goes to stderr then.
  inline bool is_standard_output(std::filesystem::path const& path)
  {
    return path == "-";
  }

  /// Throws nearfield::error if the output of `option` cannot be written, or would overwrite one of
  /// `others`, which the run reads or writes.
  inline void check_output(char const* option, std::filesystem::path const& path,
                           std::initializer_list<std::optional<std::filesystem::path>> others)
  {
    if (is_standard_output(path)) return;
    for (auto const& other : others)
      if (other && same_file(path, *other))
        throw error(std::string(option) + ": " + path.string() + " is also " + other->string() +
                    ", which this run reads or writes; give another name");
    check_writable_place(path);
  }

  [[noreturn]] inline void refuse_output()
  {
    throw error("standard output: cannot be written; give it another place");
  }

  /// Throws nearfield::error if writing to standard output has failed.
  inline void flush_output()
  {
    if (!std::cout.flush()) refuse_output();
  }

  /// What takes the bytes of a file, piece by piece.
  using byte_sink = std::function<void(std::string_view)>;
}
