#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/cell.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield
{
  /// A cube (a square in 2D): the points x with |x_d - centre_d| <= half_width on every axis.
  template <int Dim>
  struct cube
  {
    static constexpr int dim = Dim; ///< the dimension of space

    std::array<double, Dim> centre{}; ///< length^1
    double half_width = 1;            ///< length^1

    /// The length of an edge, 2 half_width.
    [[nodiscard]] double width() const { return 2 * half_width; }
    /// Its lower end on an axis.
    [[nodiscard]] double lower(int axis) const { return centre[axis] - half_width; }
    /// Its upper end on an axis.
    [[nodiscard]] double upper(int axis) const { return centre[axis] + half_width; }

    friend bool operator==(cube const&, cube const&) = default;
  };

  /// The order of leaves in memory. It changes results only by rounding, but it does change run times: neighbours
  /// that are adjacent in memory merge into one range, and row-major order merges more of them.
  enum class leaf_order
  {
    row_major, ///< the last axis varies fastest; uniform trees only
    morton     ///< along the Z curve, the last axis varies fastest
  };

  /// How often a root can be halved: the indices of a leaf fit in one 64-bit key.
  template <int Dim>
  inline constexpr int max_level = Dim == 3 ? 21 : 31;

  struct leaf_costs; // <nearfield/tree/leaf_size.hpp>

  /// How a tree is cut. With `level` every leaf has the width root.width() / 2^level (a uniform
  /// tree). Without it a box splits while it holds too many points (an adaptive tree).
  template <int Dim>
  struct tree_options
  {
    /// A box with more targets or more sources than this splits, down to max_level<Dim>. At least 1, or automatic: the
    /// size of least cost by `costs` (choose_leaf_size() in <nearfield/tree/leaf_size.hpp>). A uniform tree ignores it.
    int max_leaf_size = 64;
    /// 0 ... max_level<Dim>; level 0 is one leaf, the direct sum
    std::optional<int> level = std::nullopt;
    /// The root box, which must hold every point. By default it is the cube around the centre of
    /// the points' bounding box, with half the largest extent or period as half width (1 if all points
    /// are equal, or if there are none), or smaller where gaps are left out (tree::pieces()). It says nothing of
    /// periodic axes.
    std::optional<cube<Dim>> root = std::nullopt;
    /// by default row_major for a uniform tree and morton for an adaptive one
    std::optional<leaf_order> order = std::nullopt;
    /// The length L of the periodic box [0, L) on each axis; 0 for an open axis. A leaf of level l is L / 2^l wide
    /// there, so leaves are cubes where all lengths are equal.
    std::array<double, Dim> period{};
    /// A periodic box of any shape, instead of .period; points may lie outside. The tree cuts its reduced cell: coordinate
    /// a is the distance from a face along its normal, and period() is the thickness. root(), leaf() and pieces() have
    /// these coordinates. Open axes of a box that is not sheared keep x, y, z.
    nearfield::cell<Dim> cell{};
    /// For max_leaf_size = automatic, until the tree is built; null: those of leaf_costs().
    leaf_costs const* costs = nullptr;
  };

  /// A leaf's place: cell `index` of the lattice of 2^level boxes per axis. Along axis d the box is lower_d +
  /// [index_d, index_d + 1] * root.width() / 2^level or, with a period L, [index_d, index_d + 1] * L / 2^level.
  template <int Dim>
  struct leaf_cell
  {
    std::array<std::uint32_t, Dim> index{}; ///< from the lower end of each axis
    int level = 0;                          ///< 0 is the root

    friend bool operator==(leaf_cell const&, leaf_cell const&) = default;
  };

  namespace detail
  {
    /// Asks for huge pages in memory that is not written yet, if at least one fits.
    NEARFIELD_API void use_huge_pages(void* memory, std::size_t bytes) noexcept;
    /// operator new, in huge pages.
    [[nodiscard]] NEARFIELD_API void* allocate_pages(std::size_t bytes);

    /// Does not initialise values, so the worker that first writes a page also pays for its fault.
    template <class T>
    struct page_allocator
    {
      static_assert(std::is_trivially_copyable_v<T>);
      static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
      using value_type = T;

      page_allocator() = default;
      template <class U>
      page_allocator(page_allocator<U> const&) noexcept
      {}
      [[nodiscard]] T* allocate(std::size_t n)
      {
        return static_cast<T*>(allocate_pages(n * sizeof(T)));
      }
      void deallocate(T* values, std::size_t) noexcept { ::operator delete(values); }
      void construct(T*) const noexcept {}
      friend bool operator==(page_allocator const&, page_allocator const&) { return true; }
    };

    /// A vector whose resize() does not initialise.
    template <class T>
    using page_vector = std::vector<T, page_allocator<T>>;

    /// An interaction list that owns its memory.
    struct interaction_table
    {
      page_vector<source_range> own;    ///< as interaction_list::own
      page_vector<index_type> offsets;  ///< as interaction_list::offsets
      page_vector<source_range> ranges; ///< as interaction_list::ranges
      /// how many ranges of each row come before the own one, where boxes meet images of themselves; else empty
      page_vector<index_type> own_at;

      /// The view that kernels take; this object must outlive it.
      [[nodiscard]] interaction_list view(std::span<std::array<double, 3> const> shifts = {}) const&
      {
        return {own, offsets, ranges, shifts};
      }

      /// Deleted: give the table a name, which outlives the view.
      void view(std::span<std::array<double, 3> const> = {}) const&& = delete;
    };
  }

  /// The leaves of an octree (Dim = 3) or quadtree (Dim = 2), their points, and their interaction lists. Made
  /// by build_tree; immutable.
  ///
  /// Points are in *tree order*: leaf by leaf. Inside a leaf of an adaptive tree they are sorted along the Z curve of
  /// the boxes of level max_level<Dim>, as morton sorts leaves, and those of one such box by index; inside a leaf of a
  /// uniform tree by index. The tree keeps no coordinates: `gather(tree.target_order(), positions)` brings columns into
  /// its order. Boxes without points are not stored; with two sets a leaf holds targets, sources, or both. Views live
  /// as long as the tree, even if it is moved.
  template <int Dim>
  class NEARFIELD_API tree
  {
  public:
    static constexpr int dim = Dim; ///< the dimension of space

    /// The number of leaves.
    [[nodiscard]] index_type size() const { return static_cast<index_type>(parts_.cells.size()); }
    /// The level of the deepest leaf; the level of a uniform tree even where it is empty.
    [[nodiscard]] int depth() const { return parts_.depth; }
    /// The root box; with periods its centre is that of the periodic box on those axes. It holds all points, unless
    /// gaps are left out.
    [[nodiscard]] cube<Dim> const& root() const { return parts_.root; }
    /// The periods that were given or, with a cell, the thickness of its reduced cell; 0 for an open axis.
    [[nodiscard]] std::array<double, Dim> const& period() const { return parts_.period; }
    /// The order of the leaves in memory.
    [[nodiscard]] leaf_order order() const { return parts_.order; }
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const { return parts_.one_set; }

    /// Leaf b holds the target points [begin(b), end(b)) of the tree order.
    [[nodiscard]] boxes targets() const& { return {parts_.target_offsets}; }
    /// The same for the sources; equal to targets() if there is one set.
    [[nodiscard]] boxes sources() const&
    {
      return {parts_.one_set ? parts_.target_offsets : parts_.source_offsets};
    }

    /// The index of the target at each position of the tree order, in the arrays that were given.
    [[nodiscard]] std::span<index_type const> target_order() const& { return parts_.target_order; }
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() const&
    {
      return parts_.one_set ? parts_.target_order : parts_.source_order;
    }

    /// The shift of each target into the box, by position: the tree takes x[target_order()[p]] + target_moves()[p]. Empty
    /// if all targets were inside.
    [[nodiscard]] std::span<std::array<double, 3> const> target_moves() const&
    {
      return parts_.target_moves;
    }
    /// The same for the sources.
    [[nodiscard]] std::span<std::array<double, 3> const> source_moves() const&
    {
      return parts_.one_set ? parts_.target_moves : parts_.source_moves;
    }

    /// For each leaf with targets, the sources of its own box and of all leaves whose closed boxes touch it.
    /// Ranges ascend and hold no source twice; adjacent ones are merged. A leaf without targets has no ranges.
    ///
    /// With periods it meets every image of a leaf that touches it: up to level 1 several images of one leaf, and at
    /// level 0 those of itself. A range has one image: at y_j + shifts[shift], where y_j is x_j plus its source_moves().
    /// Images of one leaf ascend by shift.
    [[nodiscard]] interaction_list interactions() const& { return parts_.full.view(parts_.shifts); }

    /// The same pairs of different leaves, each once, at the leaf that comes first: every range lies after
    /// its box. Of the images of a leaf that meets itself, each second one. Throws nearfield::error for two sets.
    [[nodiscard]] interaction_list half_interactions() const&;

    /// The number of ordered pairs (target, source) in interactions(), without i = j if there is one set.
    [[nodiscard]] std::uint64_t interaction_count() const { return parts_.interaction_count; }

    /// The largest number of targets, or of sources, in a leaf; 0 for an empty tree.
    [[nodiscard]] index_type largest_leaf() const;

    /// The place and level of leaf b in the lattice.
    [[nodiscard]] leaf_cell<Dim> const& cell(index_type b) const { return parts_.cells[b]; }
    /// The pieces of an axis; none, unless points are so far away that the last level of an adaptive tree is too large
    /// for all others. Then gaps without points are cut to one length on each axis: the box of x at level l has the
    /// index floor((offset + (x - origin)) / width * 2^l) of its piece. The piece with most points has origin = lower
    /// and offset = 0, so its leaves lie where leaf_cell says; others lie further away from it. A tree with a given
    /// root, and one with a level, has no pieces. Views live as long as the tree.
    [[nodiscard]] std::span<detail::axis_piece const> pieces(int axis) const&
    {
      return parts_.pieces[axis];
    }

    /// The centre and half width of leaf b, for drawing; on a periodic axis half its width is
    /// period / 2^(level + 1). The lattice, not this cube, decides which points it holds. Of a leaf that a gap ends in,
    /// which is longer on that axis, the cube is as wide as its longest edge.
    [[nodiscard]] cube<Dim> leaf(index_type b) const;

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void targets() const&& = delete;           // give the tree a name
    void sources() const&& = delete;           // give the tree a name
    void target_order() const&& = delete;      // give the tree a name
    void source_order() const&& = delete;      // give the tree a name
    void interactions() const&& = delete;      // give the tree a name
    void half_interactions() const&& = delete; // give the tree a name
    void pieces(int) const&& = delete;         // give the tree a name
    void target_moves() const&& = delete;      // give the tree a name
    void source_moves() const&& = delete;      // give the tree a name
    /// \endcond

    /// What build_tree fills in.
    struct parts
    {
      cube<Dim> root;                                          ///< the root box
      std::array<double, Dim> period{};                        ///< as tree_options::period
      std::array<std::vector<detail::axis_piece>, Dim> pieces; ///< as tree::pieces()
      leaf_order order;                                        ///< the order of the leaves
      int depth;                                               ///< the level of the deepest leaf
      bool one_set;                                   ///< targets and sources are the same points
      detail::page_vector<leaf_cell<Dim>> cells;      ///< the places of the leaves
      detail::page_vector<index_type> target_offsets; ///< as boxes::offsets
      detail::page_vector<index_type> source_offsets; ///< the same; empty for one set
      detail::page_vector<index_type> target_order;   ///< position -> index in the given arrays
      detail::page_vector<index_type> source_order;   ///< the same; empty for one set
      detail::interaction_table full;                 ///< each leaf and all leaves that it meets
      detail::interaction_table half;            ///< each pair of leaves once; empty for two sets
      std::vector<std::array<double, 3>> shifts; ///< of both lists; empty without periods
      std::vector<std::array<double, 3>> target_moves; ///< as tree::target_moves()
      std::vector<std::array<double, 3>> source_moves; ///< the same; empty for one set
      std::uint64_t interaction_count = 0;             ///< as tree::interaction_count()
    };
    /// For build_tree(); checks nothing.
    explicit tree(parts&& from);

  private:
    parts parts_;
  };

  extern template class tree<2>;
  extern template class tree<3>;

  namespace detail
  {
    /// Null sources: the targets are the sources too. Without an executor this thread works alone.
    template <class T, int Dim>
    NEARFIELD_API tree<Dim> build_tree(executor* given, strided<T const, Dim> const& targets,
                                       strided<T const, Dim> const* sources,
                                       tree_options<Dim> const& options);

    // remedy: soa or strided, with two or three columns of float or double
    template <class X>
    concept tree_coordinates =
        columns_view<X> &&
        (std::same_as<value_of<X>, float> || std::same_as<value_of<X>, double>) &&
        (X::n_columns == 2 || X::n_columns == 3);

    /// The coordinates as the compiled functions take them.
    template <tree_coordinates X>
    strided<value_of<X> const, X::n_columns> positions_of(X const& points)
    {
      return points;
    }
  }

  /// The tree of one set of points, which are targets and sources at once. On each axis the box of
  /// a point at level L has the index
  ///
  ///     max(0, min(2^L - 1, floor((x - lower) / width * 2^L))),   computed in double;
  ///
  /// points with equal coordinates always share a leaf. On a periodic axis width is the period and lower is 0. With a
  /// cell, x is the place along its normal. An adaptive tree may leave gaps out (tree::pieces()). Coordinates are float
  /// or double, in 2 or 3 columns (soa or strided):
  ///
  ///     auto const tree = nearfield::build_tree(nearfield::simd, nearfield::soa{x, y, z}, {.max_leaf_size = 64});
  ///
  /// `simd` is the calling thread. `simd.with(threads)` makes the same tree, to the bit, on the threads of an executor;
  /// what they throw, and an error of a point, comes out once, and there is no tree.
  ///
  /// A point outside a given root is an error; within 4 eps * half_width (eps that of T) it is put into the outermost
  /// box. With .period, points lie in [0, L), with L rounded to T; with .cell they may lie anywhere.
  ///
  /// Time is O(N + leaves). In addition to leaves and lists, a build takes at most about 21 bytes per point.
  ///
  /// Throws nearfield::error for a coordinate that is not finite, a point outside the root, a root
  /// whose centre or width is not finite or whose half width is not positive, a period that is
  /// negative or not finite, a period together with a cell, vectors that span no cell, a point outside [0, L) of a period,
  /// a level outside
  /// 0 ... max_level<Dim>, max_leaf_size < 0, row-major order without a level, a null column,
  /// 2^32 - 1 points or more (of both sets together), and more than 2^32 - 1 ranges.
  template <detail::cpu_place Where, detail::tree_coordinates X>
  [[nodiscard]] tree<X::n_columns> build_tree(Where const& where, X const& points,
                                              tree_options<X::n_columns> const& options = {})
  {
    return detail::build_tree<detail::value_of<X>, X::n_columns>(
        detail::threads_of(where), detail::positions_of(points), nullptr, options);
  }

  /// The tree of two sets of points: the targets and the sources of a leaf share its box. A box
  /// splits while it holds more than max_leaf_size targets or more than max_leaf_size sources.
  /// Errors are those of one set.
  template <detail::cpu_place Where, detail::tree_coordinates X, detail::tree_coordinates Y>
    requires std::same_as<detail::value_of<X>, detail::value_of<Y>> &&
             (X::n_columns == Y::n_columns)
  [[nodiscard]] tree<X::n_columns> build_tree(Where const& where, X const& targets,
                                              Y const& sources,
                                              tree_options<X::n_columns> const& options = {})
  {
    auto const of_sources = detail::positions_of(sources);
    return detail::build_tree<detail::value_of<X>, X::n_columns>(
        detail::threads_of(where), detail::positions_of(targets), &of_sources, options);
  }

  /// build_tree(simd, points, options)
  template <detail::tree_coordinates X>
  [[nodiscard]] tree<X::n_columns> build_tree(X const& points,
                                              tree_options<X::n_columns> const& options = {})
  {
    return build_tree(simd, points, options);
  }

  /// build_tree(simd, targets, sources, options)
  template <detail::tree_coordinates X, detail::tree_coordinates Y>
    requires std::same_as<detail::value_of<X>, detail::value_of<Y>> &&
             (X::n_columns == Y::n_columns)
  [[nodiscard]] tree<X::n_columns> build_tree(X const& targets, Y const& sources,
                                              tree_options<X::n_columns> const& options = {})
  {
    return build_tree(simd, targets, sources, options);
  }
}
