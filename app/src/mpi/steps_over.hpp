#pragma once

#include "mpi/ranks.hpp"
#include "time_loop.hpp"

namespace nearfield::app
{
  /// As run_steps(): of all ranks, each with its own points, which `step` says where to compute. Collective; throws
  /// agreed_error.
  exit_status run_steps_over(ranks const& all, run_options const& options, named_points&& points,
                             cut_options const& cut, execution_options const& step,
                             double read_seconds, double early_seconds, std::uint64_t merged);
}
