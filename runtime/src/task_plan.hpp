#pragma once

#include "kernels/src/p2p/plan.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nearfield::detail
{
  /// The tasks of a step: for each group of leaves one for what this process has itself, and one for what touches leaves of
  /// other ranks.
  struct task_plan
  {
    /// What tasks read: the layers of ranks before this one, then the own sources, in chunks, then the other layers.
    std::size_t n_layers_before = 0;
    /// own points, from 0
    std::vector<point_interval> source_chunks, target_chunks;
    std::vector<point_interval> targets; ///< by group

    /// One-sided: leaves that meet no foreign ones. Mutual: pairs of own leaves. Empty where a group has none; every
    /// group with targets has one or the other.
    std::vector<std::optional<group_plan>> inner;
    /// One-sided always. Form one_sided: leaves that meet foreign ones, with all that they meet, in its order, so that
    /// the bits are those of one rank. Mutual: what own leaves receive from foreign ones.
    std::vector<std::optional<group_plan>> border;
    /// The order of submission, as in step_plan; empty: that of the groups, all of one priority.
    std::vector<std::size_t> by_priority;
  };
}
