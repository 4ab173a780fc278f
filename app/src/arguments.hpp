#pragma once

#include "options.hpp"

#include <string>
#include <vector>

namespace nearfield::app
{
  /// The options of `nearfield run` as they are written.
  struct written_run
  {
    std::string precision = "f64", backend = "auto", box, columns, source_columns;
    std::vector<std::string> parameters;
    run_options options;
  };

  /// The options of `nearfield search` as they are written.
  struct written_search
  {
    std::string precision = "f64", backend = "auto", list = "half";
    std::string columns, radius, periodic;
    search_options options;
  };

  /// The options that the words stand for. Throws error for a word that stands for none, and for an
  /// option that would change nothing.
  run_options interpret(written_run const& written);
  search_options interpret(written_search const& written);
}
