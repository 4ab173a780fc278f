#pragma once

#include "check.hpp"
#include "problem.hpp"
#include "step.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// What the demo computes on.
  struct demo_input
  {
    named_points points;
    std::string description; ///< says which it is, and why
    std::string title;
    double radius;           ///< that a point is drawn with
    std::string length_unit; ///< may be empty
    double cutoff;           ///< of the radius search: some tens of neighbours a point
    /// in the picture, as UTF-8
    std::string axis_unit, potential_unit;
  };

  /// The acetylcholine-binding protein that Debian's apbs-data brings (apbs/examples/misc/achbp.pqr in
  /// one of XDG_DATA_DIRS), or, where it is missing, a seeded Plummer cloud.
  demo_input choose_demo_input();

  /// One near field of the demo.
  struct demo_row
  {
    std::string backend = {}, precision = {};
    std::string skipped = {}; ///< why, where it was not measured
    step_report step = {};
    double rate = 0, speed_up = 0; ///< directed pairs a second; over scalar
    check_report check = {};
  };

  /// One radius search of the demo.
  struct demo_search_row
  {
    std::string backend = {}, precision = {};
    std::string skipped = {}; ///< why, where it was not run
    double seconds = 0;       ///< grid and half list, in memory that is there
    std::uint64_t pairs = 0;
    bool same_pairs = false; ///< as a loop over all pairs of points finds
  };

  /// Lists the pairs of points closer than input.cutoff on every back-end in both precisions,
  /// compares them with a plain loop, and prints a row for each.
  std::vector<demo_search_row> search_demo(demo_input const& input);

  /// Whether no row that was run failed.
  bool passed(std::vector<demo_search_row> const& rows);

  /// A line of the demo's tables, which replaces what show_progress() left on a terminal.
  void print_row(std::string const& backend, std::string const& precision, std::string const& rest);

  /// A number with so many digits behind the point, at the right end of a column.
  std::string right(double value, std::size_t width, std::chars_format format, int digits);
}
