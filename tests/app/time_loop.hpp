#pragma once

#include "outcome.hpp"

#include "points.hpp"

#include <algorithm>
#include <string>
#include <vector>

/// \file
/// `nearfield run --move`, and points for it.

namespace nearfield::test
{
  using columns = std::vector<std::vector<double>>;

  inline std::vector<std::string> motion(std::filesystem::path const& input,
                                         std::string const& force, int steps, double dt,
                                         std::vector<std::string> const& options)
  {
    std::vector<std::string> arguments{"run",  input.string(),    "--move",
                                       force,  "--steps",         std::to_string(steps),
                                       "--dt", std::to_string(dt)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }

  // Moves the points of `input`, which is in `folder`, on this thread if `options` do not say where.
  inline outcome move(temporary_folder const& folder, std::string const& input,
                      std::string const& force, int steps, double dt,
                      std::vector<std::string> options)
  {
    if (std::find(options.begin(), options.end(), "--workers") == options.end())
      options.insert(options.end(), {"--workers", "0"});
    return outcome_of(folder, motion(folder / input, force, steps, dt, options));
  }

  // Points that move slowly, with inputs between 0.5 and 1, of alternating signs if they are charges.
  inline point_set cluster(int dim, std::size_t n, bool charges)
  {
    random_numbers random(11);
    auto const all = [&](double lower, double upper)
    {
      columns result(static_cast<std::size_t>(dim), std::vector<double>(n));
      for (auto& column : result)
        for (double& value : column) value = random.uniform(lower, upper);
      return result;
    };
    point_set points{.dim = dim, .positions = all(-1, 1), .velocities = all(-0.2, 0.2)};
    points.inputs = {all(0.5, 1)[0]};
    points.input_names = {"q"};
    if (!charges) return points;
    points.masses = all(1, 3)[0];
    for (std::size_t i = 0; i < n; i += 2) points.inputs[0][i] *= -1;
    return points;
  }
}
