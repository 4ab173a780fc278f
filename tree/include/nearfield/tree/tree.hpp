#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>
#include <nearfield/tree/cube.hpp>
#include <nearfield/tree/tree_options.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield
{
  /// A box of the tree that is not cut further: cell `index` of the lattice of 2^level boxes per
  /// axis. Axis d spans lower_d + [index_d, index_d + 1] * root.width() / 2^level.
  template <int Dim>
  struct leaf_cell
  {
    std::array<std::uint32_t, Dim> index{}; ///< from the lower end of each axis
    int level = 0;                          ///< 0 is the root

    friend bool operator==(leaf_cell const&, leaf_cell const&) = default;
  };

  /// An interaction list that owns its memory.
  struct interaction_table
  {
    std::vector<source_range> own;    ///< as interaction_list::own
    std::vector<index_type> offsets;  ///< as interaction_list::offsets
    std::vector<source_range> ranges; ///< as interaction_list::ranges

    /// What kernels take; this object must outlive it.
    [[nodiscard]] interaction_list view() const { return {own, offsets, ranges, {}}; }
  };

  /// The leaves of an octree (Dim = 3) or quadtree (Dim = 2), the points in each, and who meets
  /// whom. Made by build_tree; never changes afterwards.
  ///
  /// Points stand in *tree order*: leaf after leaf and, inside a leaf, in the caller's order. The
  /// tree keeps no coordinates: `gather(tree.target_order(), positions)` sorts columns for it.
  /// Boxes without points are not stored; with two sets a leaf holds targets, sources, or both.
  /// Views that it returns live as long as the tree, also after it has been moved.
  template <int Dim>
  class NEARFIELD_API tree
  {
  public:
    static constexpr int dim = Dim; ///< of space

    /// The number of leaves.
    [[nodiscard]] index_type size() const { return static_cast<index_type>(cells_.size()); }
    /// The level of the deepest leaf; the level of a uniform tree even where it is empty.
    [[nodiscard]] int depth() const { return depth_; }
    /// The box that was cut.
    [[nodiscard]] cube<Dim> const& root() const { return root_; }
    /// How the leaves follow each other.
    [[nodiscard]] leaf_order order() const { return order_; }
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const { return one_set_; }

    /// Leaf b holds the target points [begin(b), end(b)) of the tree order.
    [[nodiscard]] boxes targets() const { return {target_offsets_}; }
    /// The same for the sources; equal to targets() where there is one set.
    [[nodiscard]] boxes sources() const { return {one_set_ ? target_offsets_ : source_offsets_}; }

    /// Position in tree order -> the caller's index, for targets.
    [[nodiscard]] std::span<index_type const> target_order() const { return target_order_; }
    /// Position in tree order -> the caller's index, for sources.
    [[nodiscard]] std::span<index_type const> source_order() const
    {
      return one_set_ ? target_order_ : source_order_;
    }

    /// Every leaf with targets meets the sources of its own box and of all leaves whose closed
    /// boxes share a point with its own. Ranges ascend and hold no source twice; those next to each
    /// other in memory are merged. A leaf without targets has no ranges.
    [[nodiscard]] interaction_list interactions() const { return full_.view(); }

    /// The same pairs of different leaves, each once: at the leaf that comes first, so that every
    /// range lies after its box. Throws error for two sets.
    [[nodiscard]] interaction_list half_interactions() const;

    /// The number of directed pairs that interactions() holds, without i = j where there is one set.
    [[nodiscard]] std::uint64_t interaction_count() const { return interaction_count_; }

    /// The largest number of targets, or of sources, of one leaf; 0 for an empty tree.
    [[nodiscard]] index_type largest_leaf() const;

    /// Place and level of leaf b in the lattice.
    [[nodiscard]] leaf_cell<Dim> const& cell(index_type b) const { return cells_[b]; }
    /// Centre and half width of leaf b, for drawing: which points it holds is decided on the lattice.
    [[nodiscard]] cube<Dim> leaf(index_type b) const;

    /// What build_tree fills in.
    struct parts
    {
      cube<Dim> root;                         ///< the box that was cut
      leaf_order order;                       ///< how the leaves follow each other
      int depth;                              ///< the level of the deepest leaf
      bool one_set;                           ///< targets and sources are the same points
      std::vector<leaf_cell<Dim>> cells;      ///< where the leaves are
      std::vector<index_type> target_offsets; ///< as boxes::offsets
      std::vector<index_type> source_offsets; ///< the same; empty where there is one set
      std::vector<index_type> target_order;   ///< position -> the caller's index
      std::vector<index_type> source_order;   ///< the same; empty where there is one set
      interaction_table full;                 ///< each leaf and all that it meets
      interaction_table half;                 ///< each pair once; empty for two sets
    };
    /// What build_tree calls; checks nothing.
    explicit tree(parts&& from);

  private:
    cube<Dim> root_;
    leaf_order order_;
    int depth_;
    bool one_set_;
    std::vector<leaf_cell<Dim>> cells_;
    std::vector<index_type> target_offsets_, source_offsets_;
    std::vector<index_type> target_order_, source_order_;
    interaction_table full_, half_;
    std::uint64_t interaction_count_ = 0;
  };

  extern template class tree<2>;
  extern template class tree<3>;
}
