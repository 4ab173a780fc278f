#pragma once

#include "compute.hpp"
#include "demo.hpp"
#include "search_result.hpp"
#include "taken.hpp"
#include "time_loop.hpp"
#include "tune.hpp"

#include <string>
#include <vector>

/// \file
/// The JSON that the commands write. Numbers read back to the same value; those that are not finite become
/// null. Bytes of file names that are not UTF-8 appear as \xNN.

namespace nearfield::app
{
  std::string json_of(run_options const& options, int dim, taken_files const& files,
                      run_result const& result, double read_seconds);

  std::string json_of(run_options const& options, int dim, taken_files const& files,
                      time_loop_result const& result, double read_seconds);

  std::string json_of(run_options const& options, point_set const& targets,
                      taken_files const& files, tuning const& found);

  std::string json_of(search_options const& options, point_set const& points,
                      taken_files const& files, search_result const& result, double read_seconds);

  /// `tasks`: the name of the task runtime, from starpu_name().
  std::string json_of(demo_input const& input, tree<3> const& leaves,
                      std::string const& interaction, std::string const& tasks,
                      std::vector<demo_row> const& rows,
                      std::vector<demo_search_row> const& searches);
}
