#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

/// \file
/// Trees on a GPU: points, leaves and lists in device memory. Root, leaves, orders and lists are bit for bit those of
/// the CPU (<nearfield/tree/build_tree.hpp>).
///
///     auto tree = nearfield::build_tree(nearfield::cuda, x, {.max_leaf_size = 64}); // x: soa of device memory
///     nearfield::near_field(nearfield::cuda, nearfield::one_over_r<>{}, tree, x, q, phi);
///     tree.rebuild(x);                                                              // the points have moved
///
/// A tree is built, rebuilt and used on one stream, which must outlive it, by one thread at a time and with the device
/// that it was built on as the current one.

namespace nearfield
{
  namespace detail
  {
    /// A tree in device memory, defined in src/cuda.
    template <int Dim>
    class device_tree;

    // remedy: columns of float or double in device memory
    template <class X, int Dim>
    concept device_coordinates = tree_coordinates<X> && X::n_columns == Dim;

    /// Where points come from.
    template <class T, int Dim>
    struct device_positions
    {
      strided<T const, Dim> targets; ///< the points, if there is one set
      strided<T const, Dim> sources; ///< empty for one set
      bool one_set;                  ///< targets and sources are the same points
    };
  }

  /// The leaves of an octree (Dim = 3) or quadtree (Dim = 2) in device memory, their points, and their interaction
  /// lists; made by build_tree(cuda, ...). Spans are valid until the next rebuild() or enqueue(). The tree keeps no
  /// coordinates. To make a tree anew costs more than to rebuild one: it has pinned memory.
  ///
  /// It takes 4 bytes per point, about 50 per leaf, and 12 for a range of its lists (in 3D, 13 or so per leaf in the full
  /// one, half as many in the half one); while it is built, 20 more per point, then 270 per leaf. The tree before is
  /// there until the new one is done.
  template <int Dim>
  class NEARFIELD_API cuda_tree
  {
  public:
    static constexpr int dim = Dim; ///< the dimension of space

    /// For build_tree().
    template <class T>
    cuda_tree(cuda_backend where, detail::device_positions<T, Dim> const& points,
              tree_options<Dim> const& options);
    /// The moved-from tree may only be assigned to or destroyed.
    cuda_tree(cuda_tree&&) noexcept;
    /// Frees the old tree; the moved-from tree may only be assigned to or destroyed.
    cuda_tree& operator=(cuda_tree&&) noexcept;
    ~cuda_tree();

    /// The tree of other points, or of the same ones after they moved, with the same options. The host waits once, or
    /// up to three times if the tree has many more leaves or ranges than the last one. Throws what build_tree()
    /// throws; the tree is then unchanged. Memory comes from the pool (device_array.hpp), which holds that of the last
    /// build.
    template <detail::device_coordinates<Dim> X>
    void rebuild(X const& points)
    {
      build<detail::value_of<X>>({points, {}, true});
    }
    /// The same for two sets.
    template <detail::device_coordinates<Dim> X, detail::device_coordinates<Dim> Y>
      requires std::same_as<detail::value_of<X>, detail::value_of<Y>>
    void rebuild(X const& targets, Y const& sources)
    {
      build<detail::value_of<X>>({targets, sources, false});
    }

    /// From the next rebuild() on, arrays have room for `factor` times the leaves and ranges of the tree before; without
    /// it, 1.25. Throws nearfield::error for a factor below 1 or above 1000.
    void reserve(double factor);

    /// As rebuild(), for as many points as before, but the host waits for nothing, and what it knows (size() ...) is of
    /// the tree before until finish(). A near field may follow in the stream. The arrays are those of the last
    /// rebuild(): if they are too short, there are no leaves, near fields are 0, and finish() says so. It leaves no gaps
    /// out: points so far away that rebuild() would leave some out (pieces()) make a tree with large leaves.
    ///
    /// Both calls may be captured in a CUDA graph, to be launched in the stream of the tree, once they have run
    /// without: that loads the kernels. Capture needs memory of nearfield's pools or of a cudaMemPool_t. A graph may
    /// not be launched after the next rebuild(), or when the tree is gone: capture again.
    ///
    /// Throws nearfield::error for what can be told without looking at the points, and for too little memory;
    /// after the latter there is no tree until rebuild().
    template <detail::device_coordinates<Dim> X>
    void enqueue(X const& points)
    {
      enqueue<detail::value_of<X>>({points, {}, true});
    }
    /// The same for two sets.
    template <detail::device_coordinates<Dim> X, detail::device_coordinates<Dim> Y>
      requires std::same_as<detail::value_of<X>, detail::value_of<Y>>
    void enqueue(X const& targets, Y const& sources)
    {
      enqueue<detail::value_of<X>>({targets, sources, false});
    }
    /// Waits for the stream, and learns what the last enqueue(), or launch of its graph, made. Throws nearfield::error
    /// if its points were refused, or if the arrays are too short; there is no tree then until the next one. The
    /// columns given to enqueue() must still exist.
    void finish();

    /// The number of leaves.
    [[nodiscard]] index_type size() const;
    /// The level of the deepest leaf; the level of a uniform tree even where it is empty.
    [[nodiscard]] int depth() const;
    /// As tree::root().
    [[nodiscard]] cube<Dim> const& root() const;
    /// As tree::pieces(), in host memory.
    [[nodiscard]] std::span<detail::axis_piece const> pieces(int axis) const&;
    /// The order of the leaves in memory.
    [[nodiscard]] leaf_order order() const;
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const;
    /// The number of ordered pairs (target, source) in interactions(), without i = j if there is one set.
    [[nodiscard]] std::uint64_t interaction_count() const;
    /// The largest number of targets, or of sources, in a leaf; 0 for an empty tree.
    [[nodiscard]] index_type largest_leaf() const;
    /// The stream that it is built and used on.
    [[nodiscard]] cuda_stream stream() const;

    /// In device memory: leaf b holds the target points [offsets[b], offsets[b + 1]) of the tree order.
    [[nodiscard]] std::span<index_type const> target_offsets() const&;
    /// The same for the sources; equal to target_offsets() if there is one set.
    [[nodiscard]] std::span<index_type const> source_offsets() const&;
    /// In device memory: the index of the target at each position of the tree order.
    [[nodiscard]] std::span<index_type const> target_order() const&;
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() const&;
    /// In device memory: the places of the leaves in the lattice.
    [[nodiscard]] std::span<leaf_cell<Dim> const> cells() const&;
    /// As tree::interactions(); its spans are of device memory.
    [[nodiscard]] interaction_list interactions() const&;
    /// As tree::half_interactions(); its spans are of device memory. Throws nearfield::error for two sets.
    [[nodiscard]] interaction_list half_interactions() const&;

    /// What kernels take.
    [[nodiscard]] detail::device_leaves on_device() const&;
    /// A copy in host memory; waits for the stream. Throws nearfield::error between enqueue() and finish().
    [[nodiscard]] tree<Dim> on_host() const;

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void pieces(int) const&& = delete;         // give the tree a name
    void target_offsets() const&& = delete;    // give the tree a name
    void source_offsets() const&& = delete;    // give the tree a name
    void target_order() const&& = delete;      // give the tree a name
    void source_order() const&& = delete;      // give the tree a name
    void cells() const&& = delete;             // give the tree a name
    void interactions() const&& = delete;      // give the tree a name
    void half_interactions() const&& = delete; // give the tree a name
    void on_device() const&& = delete;         // give the tree a name
    /// \endcond

  private:
    template <class T>
    void build(detail::device_positions<T, Dim> const& points);
    template <class T>
    void enqueue(detail::device_positions<T, Dim> const& points);

    std::unique_ptr<detail::device_tree<Dim>> tree_;
  };

  /// The tree of one set of points, whose coordinates, float or double, are columns in the memory of the current
  /// device. Options and errors are those of build_tree() on the CPU; beside these it throws nearfield::error for 2^31
  /// points or more, 2^27 leaves or more with periods, too little memory on the device, and if nearfield was built
  /// without CUDA.
  template <detail::tree_coordinates X>
  [[nodiscard]] cuda_tree<X::n_columns> build_tree(cuda_backend where, X const& points,
                                                   tree_options<X::n_columns> const& options = {})
  {
    return {where, detail::device_positions<detail::value_of<X>, X::n_columns>{points, {}, true},
            options};
  }

  /// The tree of two sets of points.
  template <detail::tree_coordinates X, detail::tree_coordinates Y>
    requires std::same_as<detail::value_of<X>, detail::value_of<Y>> &&
             (X::n_columns == Y::n_columns)
  [[nodiscard]] cuda_tree<X::n_columns> build_tree(cuda_backend where, X const& targets,
                                                   Y const& sources,
                                                   tree_options<X::n_columns> const& options = {})
  {
    return {where,
            detail::device_positions<detail::value_of<X>, X::n_columns>{targets, sources, false},
            options};
  }
}
