#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/io/atomic_file.hpp>

#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace nearfield::app
{
  /// Whether both names lead to one file, also through links, or would.
  inline bool same_file(std::filesystem::path const& a, std::filesystem::path const& b)
  {
    std::error_code ignored;
    auto const place = [&](std::filesystem::path path)
    {
      // weakly_canonical resolves what exists: other names are made absolute, and links without a
      // target are followed, by hand
      path = std::filesystem::absolute(path, ignored);
      while (std::filesystem::status(path, ignored).type() ==
                 std::filesystem::file_type::not_found &&
             std::filesystem::is_symlink(path, ignored))
        path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
      return std::filesystem::weakly_canonical(path, ignored);
    };
    auto const place_of_a = place(a);
    // empty for a relative name where the working directory is gone
    return std::filesystem::equivalent(a, b, ignored) ||
           (!place_of_a.empty() && place_of_a == place(b));
  }

  /// Throws error where a file cannot be written there: a long computation asks before it starts.
  inline void check_writable_place(std::filesystem::path const& path)
  {
    atomic_file const probe(path);
  }

  /// Throws error where an output, named by `option`, cannot be written there, or would overwrite
  /// one of `others`, which the run reads or writes.
  inline void check_output(char const* option, std::filesystem::path const& path,
                           std::initializer_list<std::optional<std::filesystem::path>> others)
  {
    for (auto const& other : others)
      if (other && same_file(path, *other))
        throw error(std::string(option) + ": " + path.string() + " is also " + other->string() +
                    ", which this run reads or writes; give another name");
    check_writable_place(path);
  }

  /// Throws error where standard output has not taken all that was printed.
  inline void flush_output()
  {
    if (!std::cout.flush())
      throw error("standard output: cannot be written; give it another place");
  }

  /// The files of one run, which get their names together.
  class output_files
  {
  public:
    /// Writes all of a file but its name. Throws error.
    void write(std::filesystem::path const& path, std::string_view bytes)
    {
      open(path).write(bytes);
    }

    /// A file that is written piece by piece, before commit(). Throws error.
    atomic_file& open(std::filesystem::path const& path) { return files_.emplace_back(path).file; }

    /// Prints the name of each file behind `label`, and gives the files their names when standard
    /// output has taken what was printed: its failure is an error too, and an error leaves no file.
    /// Throws error.
    void commit(std::string_view label)
    {
      for (output const& each : files_) std::cout << label << each.path.string() << "\n";
      flush_output();
      for (output& each : files_) each.file.commit();
    }

  private:
    struct output
    {
      std::filesystem::path path;
      atomic_file file;
      explicit output(std::filesystem::path const& p) : path(p), file(p) {}
    };
    std::list<output> files_;
  };
}
