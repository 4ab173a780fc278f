#pragma once

#include "random_points.hpp"

#include <nearfield/kernels/any_interaction.hpp>

#include <cstddef>
#include <optional>

/// \file
/// Points for interactions that are known by their names.

namespace nearfield::test
{
  /// Points with what the interaction reads of them.
  inline point_set points_for(interaction_info const& of, std::size_t n)
  {
    auto points = random_points(of.dim, n, 7);
    points.box.reset();
    points.inputs = random_points(of.dim, n * static_cast<std::size_t>(of.n_in), 8).inputs;
    auto const all = points.inputs[0];
    points.inputs.clear();
    for (std::size_t c = 0; c < static_cast<std::size_t>(of.n_in); ++c)
      points.inputs.emplace_back(&all[c * n], &all[c * n] + n);
    random_numbers random(9);
    for (auto const& each : of.point_parameters)
    {
      points.parameter_names.emplace_back(each.name);
      auto& column = points.parameters.emplace_back(n);
      for (double& value : column) value = random.uniform(0.25, 0.5);
    }
    return points;
  }

  /// The first that reads parameters of points that have a range, if one is built in.
  inline std::optional<interaction_info> one_with_parameters_of_points()
  {
    for (interaction_info const& of : interaction_infos())
      if (of.is_built && !of.point_parameters.empty() &&
          of.point_parameters[0].range != parameter_range::any)
        return of;
    return std::nullopt;
  }
}
