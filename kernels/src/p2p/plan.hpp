#pragma once

#include "task_list.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <cstddef>
#include <vector>

/// \file
/// How a near-field step is cut into data and tasks, independent of the interaction and of StarPU.

namespace nearfield::detail
{
  /// Points [begin, end) of the tree order.
  struct point_interval
  {
    index_type begin = 0;
    index_type end = 0;

    [[nodiscard]] index_type size() const { return end - begin; }
  };

  /// Sums computed by another group for points of this one.
  struct halo_piece
  {
    std::size_t halo = 0;      ///< index in reached_from
    index_type halo_begin = 0; ///< first point in that halo
    index_type begin = 0;      ///< first point in this group
    index_type size = 0;
  };

  /// One task: the targets of one group.
  struct group_plan
  {
    index_type first_leaf = 0, last_leaf = 0;
    point_interval targets;
    bool is_for_gpus = false; ///< the list has the work items of GPU kernels
    std::size_t target_chunk = 0;
    std::vector<std::size_t> source_chunks; ///< by source buffer of the list
    task_head head;
    std::vector<std::byte> list;
    double interactions = 0;

    // mutual only
    index_type halo_size = 0;              ///< points of other groups that the task adds to
    std::vector<std::size_t> reached_from; ///< the groups whose halos reach this one, ascending
    std::vector<halo_piece> pieces;        ///< in the order of addition
  };

  struct step_plan
  {
    /// Few and large: each is read by many tasks and copied to devices as a whole.
    std::vector<point_interval> source_chunks, target_chunks;
    /// The groups with targets, in tree order.
    std::vector<group_plan> groups;
    /// Group indices: those for GPUs first, then by decreasing work, in steps of a factor of two and otherwise in
    /// tree order, so that the last tasks to run are small.
    std::vector<std::size_t> by_priority;
  };

  /// The best value measured on GPUs with 8 groups each; on CPUs it makes no difference.
  inline constexpr std::size_t default_chunks = 16;

  /// The shifts of the leaves [first, last), as the list of a group of these has them: where they are of several systems,
  /// the shifts of each after those of the one before, but for its first, which is zero.
  NEARFIELD_API std::vector<std::array<double, 3>> shifts_of_leaves(leaf_groups_view const& leaves,
                                                                    interaction_list const& list,
                                                                    index_type first,
                                                                    index_type last);

  /// Groups of leaves of several systems that have more shifts than a range can number are cut. With for_gpus, the groups before groups.first_cpu_leaf are for GPUs. Sources and targets are cut into at most
  /// n_chunks chunks each. Groups are planned on the threads of `on`, or on the calling one if that is null.
  using planner = step_plan (*)(leaf_groups_view const& groups, bool for_gpus, std::size_t n_chunks,
                                executor* on);

  /// One task per group: its targets read all sources they meet. No two tasks write the same output.
  NEARFIELD_API step_plan plan_gather(leaf_groups_view const& groups, bool for_gpus,
                                      std::size_t n_chunks = default_chunks,
                                      executor* on = nullptr);

  /// One task per group: its pairs of the half list. Contributions to sources outside the group go to the
  /// task's halo; the group that owns these points adds them in a fixed order. Throws nearfield::error if, for
  /// GPUs, a group has 2^31 points or more, or reaches as many.
  NEARFIELD_API step_plan plan_mutual(leaf_groups_view const& groups, bool for_gpus,
                                      std::size_t n_chunks = default_chunks,
                                      executor* on = nullptr);
}
