#pragma once

#include "compute.hpp"

#include <cstdint>
#include <optional>
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

  /// Fills what a result says of its points and of their leaves, and reports a full leaf. No sources: the targets.
  template <class Leaves>
  void describe(cut_options const& cut, std::uint64_t targets, std::optional<std::uint64_t> sources,
                Leaves const& leaves, run_result& result)
  {
    result.points = targets;
    result.sources = sources.value_or(targets);
    result.leaves = leaves.size();
    result.depth = leaves.depth();
    result.max_leaf = leaves.largest_leaf();
    result.interactions = leaves.interaction_count();
    report_full_leaf(cut, {targets, sources.value_or(0), result.max_leaf, result.interactions});
  }
}
