#pragma once

#include "options.hpp"
#include "problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// \file
/// What the commands say of the files that they have read.

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
                       named_points const* sources, std::optional<bounding_box> const& box);
  /// Of `search`.
  taken_files taken_of(search_options const& options, named_points const& from);

  /// Throws nearfield::error for columns of text without a row, which are a mistake elsewhere; n_points: of the whole
  /// file.
  void refuse_no_rows(named_points const& from, std::uint64_t n_points);

  /// Prints a line for each file.
  void print_taken(taken_files const& files);
}
