#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <span>
#include <vector>

namespace nearfield
{
  /// The size of groups.
  struct group_options
  {
    /// Average number of leaves per group. automatic: about 2e7 directed pairs per group (1-10 ms on one core
    /// with SIMD), fewer if that gives less than 16 groups per core, but at least 1e6; for GPUs, see
    /// groups_per_gpu.
    int leaves_per_group = automatic;
    /// Number of GPUs that compute the groups; 0: CPUs compute them.
    int gpus = 0;
    /// Groups per GPU. 0: 8, or fewer if a group would have less than 1000 leaves or 1.5e8 directed pairs; with
    /// several GPUs 6e8, and as many for each.
    /// Few groups cost little to submit; with many, more CPU workers copy inputs and results between the
    /// caller's arrays and the tasks.
    int groups_per_gpu = 0;
  };

  /// The leaves of a tree in groups, as made by group_leaves. The tree must outlive it, and may be moved.
  template <int Dim>
  class leaf_groups
  {
  public:
    static constexpr int dim = Dim; ///< of space

    /// Groups over `views`, which must outlive it. Use group_leaves.
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
    /// The groups and the leaves, as a step takes them.
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
                                                                 group_options const& options,
                                                                 executor* on = nullptr);
  }

  /// Cuts the leaves of a tree, or the cells of a cell list, into groups with about equal numbers of pairs. A
  /// group has at least one leaf; a tree without leaves has no groups. Throws nearfield::error for negative
  /// options, and whatever interactions() of a cell list throws.
  ///
  /// group_leaves(runtime, tree) sizes groups for the workers of a StarPU runtime.
  template <has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim> group_leaves(Leaves const& leaves,
                                                      group_options const& options = {})
  {
    leaf_groups_view views;
    views.is_for_gpus = options.gpus > 0 && options.leaves_per_group == 0;
    views.has_one_set = leaves.has_one_set();
    views.targets = leaves.targets();
    views.sources = leaves.sources();
    views.full = leaves.interactions();
    if (views.has_one_set) views.half = leaves.half_interactions();
    views.target_order = leaves.target_order();
    views.source_order = leaves.source_order();
    return {views, detail::first_leaves_of_groups(views, options)};
  }

  /// Deleted: the groups would outlive the leaves.
  template <has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(Leaves const&&, group_options const& = {}) = delete;

  /// Groups sized for the workers of the runtime: few and large ones if it has GPUs, else those for CPUs. Sets
  /// `gpus` in the options. A step may cut groups for GPUs again, to give CPU workers a share, unless leaves_per_group
  /// is set. For steps that run on CPU workers although there are GPUs (an interaction without
  /// CUDA kernels, backend simd or scalar), use group_leaves(tree). Leaves are those of a tree, or the cells of
  /// a cell_list.
  template <has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim>
  group_leaves(starpu::runtime const& starpu, Leaves const& leaves, group_options options = {})
  {
    options.gpus = starpu.n_gpus();
    return group_leaves(leaves, options);
  }

  /// Deleted: the groups would outlive the leaves.
  template <has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(starpu::runtime const&, Leaves const&&,
                                        group_options = {}) = delete;
}
