#pragma once

#include "task_list.hpp"

#include <nearfield/core/api.hpp>
#include <nearfield/runtime/group_leaves.hpp>

#include <cstddef>
#include <vector>

/// \file
/// How a near-field step is cut into data and tasks. Nothing here knows of an interaction, or of StarPU.

namespace nearfield::detail
{
  /// Points [begin, end) of the tree order.
  struct point_interval
  {
    index_type begin = 0;
    index_type end = 0;

    [[nodiscard]] index_type size() const { return end - begin; }
  };

  /// Sums that another group has computed for points of this one.
  struct halo_piece
  {
    std::size_t halo = 0;      ///< which of the halos that reach this group
    index_type halo_begin = 0; ///< where in that halo
    index_type begin = 0;      ///< where in this group
    index_type size = 0;
  };

  /// One task: the targets of one group.
  struct group_plan
  {
    point_interval targets;
    std::size_t target_chunk = 0;
    std::vector<std::size_t> source_chunks; ///< by source buffer of the list
    task_head head;
    std::vector<std::byte> list;
    double interactions = 0;

    // mutual only
    index_type halo_size = 0;              ///< points of other groups that the task computes for
    std::vector<std::size_t> reached_from; ///< the groups whose halos reach this one, ascending
    std::vector<halo_piece> pieces;        ///< in the order in which they are added
  };

  struct step_plan
  {
    /// Few and large: what is read by many tasks, and copied to devices.
    std::vector<point_interval> source_chunks, target_chunks;
    /// Those with targets, in tree order.
    std::vector<group_plan> groups;
    /// Larger groups before smaller ones by factors of two, else as in the tree: the last tasks to run
    /// should be small.
    std::vector<std::size_t> by_priority;
  };

  /// Measured on GPUs, with 8 groups each; on CPUs it makes no difference.
  inline constexpr std::size_t default_chunks = 16;

  /// With for_gpus, lists are cut into work for a GPU too. There are at most n_chunks chunks of sources, and
  /// of targets.
  using planner = step_plan (*)(leaf_groups_view const& groups, bool for_gpus,
                                std::size_t n_chunks);

  /// One task a group: its targets read all sources they meet. No output is written by two tasks.
  NEARFIELD_API step_plan plan_gather(leaf_groups_view const& groups, bool for_gpus,
                                      std::size_t n_chunks = default_chunks);

  /// One task a group: its pairs of the half list. What the sources outside the group receive goes to a
  /// halo of the task, which the group that owns those points adds, in a fixed order. Throws error where a
  /// group for GPUs has or reaches 2^31 points or more.
  NEARFIELD_API step_plan plan_mutual(leaf_groups_view const& groups, bool for_gpus,
                                      std::size_t n_chunks = default_chunks);
}
