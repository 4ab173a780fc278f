#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace nearfield
{
  /// How large groups are made.
  struct group_options
  {
    /// Leaves of a group on average; 0: as many as make a group's work 2e7 directed pairs (1-10 ms of
    /// one core with SIMD), fewer where that leaves less than 16 groups per core; for GPUs, as
    /// groups_per_gpu says
    int leaves_per_group = 0;
    /// The GPUs that will compute the groups; 0: CPUs will.
    int gpus = 0;
    /// Groups for each GPU; 0: 8, or fewer where a group would have less than 1000 leaves or 1.5e8 directed
    /// pairs. Few ones cost little to submit, many ones let more CPU workers bring inputs and results to and
    /// from the caller's arrays.
    int groups_per_gpu = 0;
  };

  /// Groups of leaves that follow each other in the tree: what one task works on. Views of a tree, which
  /// must outlive it.
  struct leaf_groups_view
  {
    /// group g holds the leaves [first_leaf[g], first_leaf[g + 1])
    std::span<index_type const> first_leaf;
    bool has_one_set = true; ///< targets and sources are the same points
    boxes targets;           ///< the targets of each leaf
    boxes sources;           ///< the sources of each leaf
    interaction_list full;   ///< each leaf and all that it meets
    /// every pair once; only of one set
    interaction_list half;
    std::span<index_type const> target_order; ///< position -> the caller's index
    std::span<index_type const> source_order; ///< the same for the sources
  };

  /// What has leaves and their interactions: a tree, or a cell_list, whose leaves are its cells.
  template <class Leaves>
  concept has_leaves = requires(Leaves const& leaves)
  {
    Leaves::dim;
    leaves.has_one_set();
    leaves.targets();
    leaves.interactions();
    leaves.half_interactions();
    leaves.target_order();
  };

  /// The leaves of a tree in groups. Made by group_leaves; the tree must outlive it, and may be moved.
  template <int Dim>
  class leaf_groups
  {
  public:
    static constexpr int dim = Dim; ///< of space

    /// Groups over views that outlive it; group_leaves makes them.
    leaf_groups(leaf_groups_view const& views, std::vector<index_type>&& first_leaf)
        : first_leaf_(std::move(first_leaf)), views_(views)
    {}

    /// The number of groups.
    [[nodiscard]] index_type size() const
    {
      return static_cast<index_type>(first_leaf_.size() - 1);
    }
    /// Group g holds the leaves [first_leaf()[g], first_leaf()[g + 1]).
    [[nodiscard]] std::span<index_type const> first_leaf() const { return first_leaf_; }
    /// All of it, as a step takes it.
    [[nodiscard]] leaf_groups_view view() const
    {
      leaf_groups_view result = views_;
      result.first_leaf = first_leaf_;
      return result;
    }

  private:
    std::vector<index_type> first_leaf_;
    leaf_groups_view views_;
  };

  namespace detail
  {
    NEARFIELD_API std::vector<index_type> first_leaves_of_groups(leaf_groups_view const& views,
                                                                 group_options const& options);
  }

  /// Cuts the leaves of a tree, or of a list of cells, into groups of about equal numbers of pairs. A group has
  /// at least one leaf; a tree without leaves has no group. Throws error for negative options, and for a list
  /// of cells what its interactions() throws.
  ///
  /// group_leaves(runtime, tree) makes them for what a StarPU runtime has (starpu/group_leaves.hpp).
  template <has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim> group_leaves(Leaves const& leaves,
                                                      group_options const& options = {})
  {
    leaf_groups_view views;
    views.has_one_set = leaves.has_one_set();
    views.targets = leaves.targets();
    views.sources = leaves.sources();
    views.full = leaves.interactions();
    if (views.has_one_set) views.half = leaves.half_interactions();
    views.target_order = leaves.target_order();
    views.source_order = leaves.source_order();
    return {views, detail::first_leaves_of_groups(views, options)};
  }

  /// The groups would outlive the leaves.
  template <has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(Leaves const&&, group_options const& = {}) = delete;
}
