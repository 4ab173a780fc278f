#pragma once

#include "merged.hpp"
#include "mpi/mpi_ranks.hpp"

#include <span>

namespace nearfield::app
{
  /// As report_merged(), of the points of all ranks; the first rank says it. Collective; throws agreed_error.
  std::uint64_t report_merged_over(mpi_ranks const& all, named_points const& targets,
                                   named_points const* sources, std::span<double const> origin);
}
