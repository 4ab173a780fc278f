#pragma once

#include "options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// The options of `nearfield run` as written on the command line.
  struct written_run
  {
    std::string precision = "f64", backend = "auto", box, periodic, columns, source_columns, frame;
    std::string max_leaf_size = "64", far_field_cost; // empty: not written
    std::string force, dt;                            // empty: not written
    std::uint64_t steps = 0;
    std::optional<std::uint64_t> frames = std::nullopt;
    std::vector<std::string> parameters;
    run_options options;
  };

  /// The options of `nearfield search` as written on the command line.
  struct written_search
  {
    std::string precision = "f64", backend = "auto", list = "half";
    std::string columns, frame, radius, periodic;
    search_options options;
  };

  /// Parses the written options. Throws nearfield::error for an invalid value, and for an option that would
  /// have no effect.
  run_options interpret(written_run const& written);
  search_options interpret(written_search const& written);
}
