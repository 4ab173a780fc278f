#pragma once

#include "fit_memory.hpp"
#include "plan.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/group_leaves.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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

  struct rank_plan
  {
    /// The chunks of sources: the layers of ranks before this one, then the groups, then the other layers. Tasks name
    /// those that have sources.
    std::size_t n_layers_before = 0;
    /// own points of each group, from 0
    std::vector<nearfield::detail::point_interval> targets, sources;

    /// One-sided: leaves that meet no foreign ones. Mutual: pairs of own leaves. Empty where a group has none; every
    /// group with targets has one or the other. Numbers of chunks and of groups in them are those of chunks.
    std::vector<std::optional<nearfield::detail::group_plan>> inner;
    /// One-sided always. Form one_sided: leaves that meet foreign ones, with all that they meet, in its order, so that
    /// the bits are those of one rank. Mutual: what own leaves receive from foreign ones.
    std::vector<std::optional<nearfield::detail::group_plan>> border;
  };

  /// The GPUs of a rank, for whose memory groups are cut.
  struct rank_gpus
  {
    nearfield::detail::point_bytes point;
    nearfield::detail::gpu_memory memory;
    std::size_t most_columns; ///< of a handle
  };

  /// The lists of a rank that its GPU has made.
  struct gpu_lists
  {
    std::shared_ptr<void const> memory; ///< what they use
    cuda_list inner, border;
    double inner_pairs, border_pairs;
  };

  /// Whether a plan with one group for all of them, one GPU's, can run.
  bool fits_one_group(rank_leaves const& leaves, rank_gpus const& gpus);
  /// That plan, without lists, which have so many pairs. Its chunks are the rank's own points and those of all layers.
  rank_plan plan_one_group(rank_leaves const& leaves, pair_form form, double inner_pairs,
                           double border_pairs);

  /// Null: a plan for CPU workers. For GPUs, groups are larger or smaller than the options say where their tasks could
  /// not run; throws nearfield::error if none could. Groups are planned by `on`, or here.
  rank_plan plan_rank(rank_leaves const& leaves, pair_form form, group_options const& options,
                      rank_gpus const* gpus, executor* on);
}
