#pragma once

#include "compute.hpp"
#include "demo.hpp"
#include "search_result.hpp"

#include <string>
#include <vector>

/// \file
/// What the commands write as JSON. Numbers read back to the same value, or are null where they are not
/// finite; bytes of file names that are no UTF-8 appear as \xNN.

namespace nearfield::app
{
  std::string json_of(run_options const& options, point_set const& targets,
                      point_set const* sources, run_result const& result, double read_seconds);

  std::string json_of(search_options const& options, int dim, search_result const& result,
                      double read_seconds);

  /// tasks: what runs tasks, as starpu_name() says.
  std::string json_of(demo_input const& input, tree<3> const& leaves,
                      std::string const& interaction, std::string const& tasks,
                      std::vector<demo_row> const& rows,
                      std::vector<demo_search_row> const& searches);
}
