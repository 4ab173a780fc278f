#pragma once

#include "options.hpp"
#include "problem.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// \file
/// How the commands read files, and what they say of them.

namespace nearfield::app
{
  /// What a command takes of a file.
  struct taken_file
  {
    std::string name;
    file_report report; ///< what the command does not use is left out too
    std::string box =
        {}; ///< whether the box of the file is used, and what to type; empty: it has none
    bool uses_box = false;
  };

  using taken_files = std::vector<taken_file>;

  /// Of `run` and `tune`, which cut `box`; `sources` may be null.
  taken_files taken_of(run_options const& options, named_points const& targets,
                       named_points const* sources,
                       std::optional<point_set::bounding_box> const& box);
  /// Of `search`.
  taken_files taken_of(search_options const& options, named_points const& from);

  /// How INPUT is read.
  read_options reading_of(file_options const& options);

  /// The points of a file, or of the part of it that is for this rank, with its place in the file. Collective. Throws
  /// nearfield::error for columns of text without a row in the whole file, which are a mistake elsewhere.
  named_points read_file(ranks const& all, std::filesystem::path const& path, read_options how);

  /// a, b, c, of many the first.
  std::string listed(std::vector<std::string> const& names);

  /// Prints a line for each file.
  void print_taken(taken_files const& files);
}
