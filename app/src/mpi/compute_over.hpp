#pragma once

#include "compute.hpp"
#include "mpi/ranks.hpp"

namespace nearfield::app
{
  /// The near field of the points of all ranks, as compute(): the outputs are those of the targets of this rank, all
  /// else is of all ranks. Collective; throws agreed_error.
  run_result compute_over(ranks const& all, run_options const& options, named_points const& targets,
                          named_points const* sources, cut_options const& cut);
}
