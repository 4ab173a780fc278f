#pragma once

#include "options.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// \file
/// What the texts of options mean. All throw nearfield::error, which does not name the option, for a text that is
/// not as expected.

namespace nearfield::app
{
  [[noreturn]] void refuse_text(std::string const& text, std::string const& expected);

  double read_length(std::string const& text);   ///< positive
  double read_duration(std::string const& text); ///< positive
  /// Seconds, 0 or more.
  double read_cost(std::string const& text);
  /// "auto", or a whole number from 1 on.
  int read_leaf_size(std::string const& text);
  std::int64_t read_frame(std::string const& text);
  /// The words between commas, including empty ones.
  std::vector<std::string> read_words(std::string const& text);
  /// The centre, then the half width.
  std::vector<double> read_box(std::string const& text);
  /// The period of every axis, 0 for an open one.
  std::vector<double> read_periods(std::string const& text);
  /// The vectors of a box in 2D or 3D, or its lengths, or "file".
  cell_choice read_cell(std::string const& text);
  /// 0 or 1 for each vector.
  std::vector<bool> read_pbc(std::string const& text);
  /// Of A:B=R each, between commas.
  std::vector<type_cutoff> read_type_cutoffs(std::string const& text);
  /// Of NAME=VALUE each.
  std::vector<std::pair<std::string, double>>
  read_parameters(std::vector<std::string> const& texts);

  /// Sets the options that follow from others. Throws nearfield::error for options that contradict each other or would
  /// have no effect.
  void complete(run_options& options);
  void complete(search_options& options);
}
