#pragma once

#include "options.hpp"

#include <nearfield/core/error.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

/// \file
/// The values of options, from the words of the command line.

namespace nearfield::app
{
  /// All of `text` as a number, nan and inf too. Throws error, with what was expected.
  double parse_number(std::string const& text, char const* option, char const* expected);

  /// The words between commas, empty ones too.
  std::vector<std::string> split(std::string const& text);

  /// Refuses all but decimal digits, and a number below `least`, which is 0 or 1. For transform().
  CLI::Validator whole_number(int least);

  /// The value of that name. Throws error, with the names that there are.
  template <class Enum>
  Enum choose(std::string const& text, char const* option,
              std::vector<std::pair<char const*, Enum>> const& choices)
  {
    std::string known;
    for (auto const& [name, value] : choices)
    {
      if (text == name) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw error(std::string(option) + ": found '" + text + "', expected one of " + known);
  }

  /// --precision
  precision choose_precision(std::string const& text);

  /// --backend
  backend choose_backend(std::string const& text);
}
