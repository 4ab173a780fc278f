#pragma once

#include "demo_input.hpp"
#include "json.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::app
{
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

  /// The rows as an array under the key "search".
  void write_json(json_writer& json, demo_input const& input,
                  std::vector<demo_search_row> const& rows);
}
