#pragma once

#include "check_outputs.hpp"
#include "problem.hpp"
#include "step.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// The input of the demo.
  struct demo_input
  {
    named_points points;
    std::string description; ///< which input it is, and why
    std::string title;
    double radius;           ///< radius of a drawn point
    std::string length_unit; ///< may be empty
    double cutoff;           ///< of the radius search, for some tens of neighbours per point
    /// labels in the picture, UTF-8
    std::string axis_unit, potential_unit;
  };

  /// The acetylcholine-binding protein of Debian's package apbs-data (apbs/examples/misc/achbp.pqr in one of
  /// XDG_DATA_DIRS) or, if it is missing, a seeded Plummer cloud.
  demo_input choose_demo_input();

  /// One near field of the demo.
  struct demo_row
  {
    std::string backend = {}, precision = {};
    std::string skipped = {}; ///< the reason if it was not measured
    step_report step = {};
    double rate = 0, speed_up = 0; ///< directed pairs per second; over the plain loop
    check_report check = {};
  };

  /// One radius search of the demo.
  struct demo_search_row
  {
    std::string backend = {}, precision = {};
    std::string skipped = {}; ///< the reason if it was not run
    double seconds = 0;       ///< grid and half list, in memory already allocated
    std::uint64_t pairs = 0;
    bool same_pairs = false; ///< as found by a loop over all pairs of points
  };

  /// Lists the pairs of points closer than input.cutoff on every back-end in both precisions, compares the
  /// lists with a plain loop, and prints a row for each.
  std::vector<demo_search_row> search_demo(demo_input const& input);

  /// Whether all rows that were run have passed.
  bool passed(std::vector<demo_search_row> const& rows);

  /// Prints a row of the demo's tables over the last line of show_progress().
  void print_row(std::string const& backend, std::string const& reals, std::string const& rest);

  /// A number with the given digits after the decimal point, right-aligned in a column of the given width.
  std::string right(double value, std::size_t width, std::chars_format format, int digits);
}
