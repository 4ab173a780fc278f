#pragma once

#include "compute.hpp"
#include "motion.hpp"
#include "mpi/mpi_ranks.hpp"
#include "mpi/runtime_over.hpp"

#include <memory>
#include <vector>

namespace nearfield::app
{
  /// The near field of the points of all ranks, as compute(): the outputs are those of the targets of this rank, all
  /// else is of all ranks. Collective; throws agreed_error.
  run_result compute_over(mpi_ranks const& all, run_options const& options,
                          named_points const& targets, named_points const* sources,
                          cut_options const& cut);

  /// As run_host::start(): points stay on the ranks that have read them; the near field moves with them.
  std::unique_ptr<motion> make_motion_over(mpi_ranks const& all, runtime_over const& on,
                                           run_options const& options, named_points& of,
                                           cut_options const& cut, std::vector<double> factors);
}
