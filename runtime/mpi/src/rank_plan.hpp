#pragma once

#include "runtime/src/fit_memory.hpp"
#include "runtime/src/task_plan.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <cstddef>
#include <span>

/// \file
/// The tasks of one rank: for each group of its leaves one for what the rank has itself, and one for what touches
/// leaves of other ranks.

namespace nearfield::starpu_mpi::detail
{
  /// A distributed_tree as a plan sees it, in two or three dimensions.
  struct rank_leaves
  {
    boxes targets, sources; ///< of known leaves; the same, if there is one set
    index_type first, last; ///< own leaves among the known ones
    interaction_list lists; ///< a row for each own leaf
    std::span<rank_layer const> layers;
    bool has_one_set;
  };

  /// The GPUs of a rank, for whose memory groups are cut.
  struct rank_gpus
  {
    nearfield::detail::point_bytes point;
    nearfield::detail::gpu_memory memory;
    std::size_t most_columns; ///< of a handle
  };

  /// Whether a plan with one group for all of them, one GPU's, can run.
  bool fits_one_group(rank_leaves const& leaves, rank_gpus const& gpus);
  /// That plan, without lists, which have so many pairs. Its chunks are the rank's own points and those of all layers.
  nearfield::detail::task_plan plan_one_group(rank_leaves const& leaves, pair_form form,
                                              double inner_pairs, double border_pairs);

  /// Null: a plan for CPU workers. For GPUs, groups are larger or smaller than the options say where their tasks could
  /// not run; throws nearfield::error if none could. Groups are planned by `on`, or here.
  nearfield::detail::task_plan plan_rank(rank_leaves const& leaves, pair_form form,
                                         group_options const& options, rank_gpus const* gpus,
                                         executor* on);
}
