#pragma once

#include "program.hpp"
#include "read_json.hpp"

#include <nearfield/io/points.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

/// \file
/// What `nearfield run` has written.

namespace nearfield::test
{
  struct outcome
  {
    ending end;
    point_set points;
    json_values json;
  };

  /// Runs the program with its output in `folder`.
  inline outcome outcome_of(temporary_folder const& folder, std::vector<std::string> arguments)
  {
    auto const points = folder / "out.csv", json = folder / "out.json";
    arguments.insert(arguments.end(), {"--output", points.string(), "--json", json.string()});
    auto const end = run_program(arguments);
    expect_success(end);
    return {end, read_points(points), read_json(json)};
  }

  /// `nearfield run` on `input`, which is in `folder`.
  inline outcome compute(temporary_folder const& folder, std::string const& input,
                         std::vector<std::string> options)
  {
    options.insert(options.begin(), {"run", (folder / input).string()});
    return outcome_of(folder, std::move(options));
  }
}
