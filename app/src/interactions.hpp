#pragma once

#include "options.hpp"
#include "problem.hpp"

#include <nearfield/kernels/any_interaction.hpp>

#include <string>
#include <vector>

namespace nearfield::app
{
  /// The chosen interaction for points in `dim` dimensions, 0: in one that it has. Throws nearfield::error for a name, a
  /// dimension or a parameter that does not exist, and for a value out of its range.
  any_interaction interaction_of(interaction_choice const& choice, int dim);

  /// The columns that an interaction of that name reads of points, in any dimension.
  std::vector<point_parameter> point_parameters_of(std::string const& interaction);

  /// Throws nearfield::error as above, for parameters that do not fit the precision, and for values of --point-param that
  /// the interaction does not read.
  void check_interaction(interaction_choice const& choice, int dim, precision in);

  /// Gives the points of both files, of which `sources` may be null, the parameters that the interaction reads, in its
  /// order: those of the file or, where it has none, the value of --point-param. Throws nearfield::error for one that is
  /// in neither, for values out of its range, and for a value that no file needs.
  void settle_point_parameters(interaction_choice const& choice, named_points& targets,
                               named_points* sources);
}
