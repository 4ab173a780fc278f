#pragma once

#include "search_options.hpp"

#include <string>

namespace CLI
{
  class App;
}

namespace nearfield::app
{
  /// The options of `nearfield search` as they are written, before they become search_options.
  struct written_search
  {
    std::string precision = "f64", backend = "auto", list = "half";
    std::string columns, radius, periodic;
    search_options options;
  };

  /// The command, which fills `written`; both live until the command line is read.
  CLI::App* add_search(CLI::App& program, written_search& written);

  /// Throws error for a value that is none.
  search_options interpret(written_search const& written);
}
