#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/executor.hpp>

#include <cstddef>
#include <vector>

/// \file
/// Leaves in groups of about equal work.

namespace nearfield::detail
{
  /// sums[b]: the directed pairs of the leaves before b, as tasks of that form count them (mutual: those of the half
  /// list), and 1 for each leaf, so that one without pairs belongs to a group too. With threads, if there are some.
  NEARFIELD_API std::vector<double> cumulated_pairs(leaf_groups_view const& leaves, pair_form form,
                                                    executor* on = nullptr);

  /// Cuts the leaves up to `end` that no group has yet into n groups with about equal numbers of pairs, fewer if there
  /// are fewer leaves.
  NEARFIELD_API void cut_evenly(std::vector<double> const& sums, index_type end, std::size_t n,
                                std::vector<index_type>& first_leaf);
}
