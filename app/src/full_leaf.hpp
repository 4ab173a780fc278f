#pragma once

#include "problem.hpp"

#include <cstdint>
#include <string>

namespace nearfield::app
{
  /// What a tree has in its fullest leaf, and the pairs of all.
  struct full_leaf
  {
    std::uint64_t targets = 0;
    std::uint64_t sources = 0; ///< 0: the targets
    std::uint64_t in_leaf = 0; ///< targets or sources
    std::uint64_t pairs = 0;
  };

  /// A line of text if a fixed level does not part the points: if one leaf has most of them, or most of all pairs meet,
  /// and they are many. Otherwise empty. Levels 0 and 1 sum over all pairs anyway.
  std::string warning_of(cut_options const& cut, full_leaf const& of);

  /// Prints it on stderr; of the steps of a time loop, for the first.
  void report_full_leaf(cut_options const& cut, full_leaf const& of);
}
