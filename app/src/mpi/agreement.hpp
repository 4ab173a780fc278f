#pragma once

#include "mpi/ranks.hpp"

#include <filesystem>
#include <string>

/// \file
/// What all ranks must have in common: else they would wait for each other's messages, or mix their points.

namespace nearfield::app
{
  /// Throws agreed_error unless all ranks have the same lines; it names the first that differ. Collective.
  void require_same_options(ranks const& all, std::string const& lines);

  /// Throws agreed_error unless all ranks find the same bytes in their file: the same file, or a copy of it, which
  /// each rank then reads once more. Collective.
  void require_same_file(ranks const& all, std::filesystem::path const& path);
}
