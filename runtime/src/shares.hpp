#pragma once

#include "kernels/src/p2p/groups.hpp"
#include "task_plan.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>

#include <cstddef>
#include <map>
#include <vector>

/// \file
/// What part of a step each kind of worker computes, from how fast they are.
///
/// Each group is for one kind from the start, and no group is left to whoever is free: a core that takes a group of a
/// GPU's size is late by many times what it saves, and sums would differ between steps in their last bits. CPU workers
/// share many small groups instead, so that they end together, and the kind that matters less is given a little less,
/// so that it does not keep the other waiting where a rate is wrong.

namespace nearfield::detail
{
  /// The workers of a step, and the directed pairs a second that each computes while all of them do.
  struct step_workers
  {
    int cpus = 0;
    double cpu_rate = 0;
    int gpus = 0;
    double gpu_rate = 0;
    double targets_at_once = 0; ///< by a GPU
    double least_gain = 0.005;  ///< CPU workers get a share if that saves this fraction of the step
  };

  /// What CPU workers get of a step; GPUs get the rest.
  struct cpu_share
  {
    double pairs = 0; ///< a fraction, 0 to 1
    /// a worker's part of it in groups: large ones, and at the end twice as many of half their size
    int large_groups = 0, small_groups = 0;
  };

  /// What workers share. GPUs have gpu_groups tasks, which are submitted first.
  struct step_size
  {
    double pairs; ///< directed
    double targets;
    std::size_t gpu_groups;
  };

  /// The share with which such a step ends first. It is 0 or 1 unless sharing saves enough of the step and more time
  /// than tasks cost.
  NEARFIELD_API cpu_share share_of_cpus(step_size const& step, step_workers const& workers);

  /// The first leaves of as many groups, cut with about equal numbers of pairs of that form. Where the form is mutual a pair
  /// of two groups belongs to the first of them, so groups of equal one-sided pairs differ by the pairs between them.
  NEARFIELD_API std::vector<index_type> cut_for_form(leaf_groups_view const& groups,
                                                     pair_form form);

  /// Leaves cut into groups for each kind of worker.
  struct shared_leaves
  {
    std::vector<index_type> first_leaf;
    index_type first_cpu_leaf; ///< the groups before it are for GPUs
  };

  /// Cuts the leaves of groups that were made for GPUs again: large groups for GPUs first, then small ones for CPU
  /// workers. Returns the groups as they are if CPU workers get nothing. There are no groups for GPUs if those get
  /// nothing.
  NEARFIELD_API shared_leaves share_leaves(leaf_groups_view const& groups, pair_form form,
                                           int n_rhs, step_workers const& workers);

  /// Who runs the groups of a step.
  struct group_places
  {
    std::vector<std::size_t> order; ///< in which they are submitted
    std::vector<int> worker;        ///< of each; -1: any
    /// of each, counted from 0; of one for CPU workers that of the group before
    std::vector<std::size_t> gpu;
  };

  /// Gives each of several GPUs groups of its own, neighbours since those share sources: a scheduler would give two to
  /// the workers of one GPU before another has any. `gpus` has the workers of each.
  NEARFIELD_API group_places place_groups(task_plan const& plan,
                                          std::map<int, std::vector<int>> const& gpus);
}
