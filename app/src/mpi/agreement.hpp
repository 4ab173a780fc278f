#pragma once

#include "mpi/mpi_ranks.hpp"

#include <string>

/// \file
/// What all ranks must have in common: else they would wait for each other's messages, or mix their points.

namespace nearfield::app
{
  /// Throws agreed_error unless all ranks have the same lines; it names the first that differ. Collective.
  void require_same_options(mpi_ranks const& all, std::string const& lines);
}
