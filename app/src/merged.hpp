#pragma once

#include "problem.hpp"

#include <cstdint>
#include <span>

namespace nearfield::app
{
  /// A point before and after rounding, as hashes, and its number.
  struct point_key
  {
    std::uint64_t rounded, exact, number;
  };

  /// Finds points of one or two files, of all ranks, that the files tell apart and float does not: of a singular
  /// interaction, their pairs count for nothing. Says on stderr that there are some. Returns how many fall on the place
  /// of an earlier one. Collective.
  std::uint64_t report_merged(ranks const& all, named_points const& targets,
                              named_points const* sources, std::span<double const> origin);
}
