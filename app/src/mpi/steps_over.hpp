#pragma once

#include "motion.hpp"
#include "mpi/field_over.hpp"

#include <memory>
#include <vector>

namespace nearfield::app
{
  /// As make_motion(): of all ranks, each with its own points. Collective; throws agreed_error.
  std::unique_ptr<motion> make_motion_over(ranks const& all, runtime_over const& on,
                                           run_options const& options, named_points& of,
                                           cut_options const& cut, std::vector<double> factors);
}
