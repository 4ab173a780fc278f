#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <vector>

/// \file
/// Leaves in groups of about equal work.

namespace nearfield::detail
{
  /// sums[b]: the directed pairs of the leaves before b, as tasks of that form count them (mutual: those of the half
  /// list), and 1 for each leaf, so that one without pairs belongs to a group too. With threads, if there are some.
  NEARFIELD_API std::vector<double> cumulated_pairs(leaf_groups_view const& leaves, pair_form form,
                                                    executor* on = nullptr);
}
