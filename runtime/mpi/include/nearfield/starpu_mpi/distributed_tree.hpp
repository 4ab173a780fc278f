#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <mpi.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::detail
{
  template <int Dim>
  struct part_lists; // of tree/src
}

/// \namespace nearfield::starpu_mpi
/// Points, trees and near fields over the ranks of an MPI communicator.

namespace nearfield::starpu_mpi
{
  /// How points are distributed over ranks.
  struct distribution_options
  {
    /// Where the Z curve is cut into one range of leaves for each rank.
    enum cut_choice
    {
      equal_interactions, ///< about as many pairs on every rank
      equal_points,       ///< about as many points, of both sets; saves an exchange of keys
      /// as the caller has distributed the points: those of each rank come after those of the ranks before it along the
      /// curve; points of one position may be on both sides of a border. A leaf at a border goes to the later of its
      /// ranks.
      of_the_caller
    };

    /// where the curve is cut
    cut_choice cuts = equal_interactions;
    /// The global number of the first point of rank 0, of each set. Numbers go on from there, rank after rank.
    std::uint64_t first_number = 0;
    /// rebuild() cuts anew where a rank has more than 1 + this times the mean of all; infinity: never
    double imbalance = 0.1;
    /// A CUDA device of this rank, such as runtime::first_gpu(), that sorts points and, of one set, makes leaves and
    /// lists. CPUs do it without one, and where it has less memory free than 64 bytes a point in f32, 88 in f64 (in
    /// 2D 56 and 72), for each set, and some 300 bytes a leaf for lists. The tree is the same to the bit. For steps on
    /// that device 16 bytes of each own point stay there (28 in f64; in 2D 12 and 20), and 150 of each leaf; each step
    /// takes some 300 bytes a leaf more. Columns of positions that you have pinned (starpu_memory_pin) it copies itself,
    /// without CPU workers. Trees in a box of any shape (tree_options::cell) are made by CPUs. Throws nearfield::error for
    /// a device that does not exist.
    std::optional<int> gpu = std::nullopt;
  };

  namespace detail
  {
    using nearfield::detail::columns_view;
    using nearfield::detail::cpu_place;
    using nearfield::detail::value_of;

    /// Where the caller's points are: those of this rank in the order in which they went away, rank after rank.
    struct journey
    {
      /// the caller's points [sent_offsets[r], sent_offsets[r + 1]) of sent went to rank r
      std::vector<std::size_t> sent_offsets;
      /// indices in the caller's columns
      nearfield::detail::page_vector<index_type> sent;
      /// the points [received_offsets[r], received_offsets[r + 1]) of received came from rank r
      std::vector<std::size_t> received_offsets;
      /// indices of own points
      nearfield::detail::page_vector<index_type> received;
    };

    /// The leaves of another rank that touch own ones, and the own ones that they touch.
    struct rank_layer
    {
      int rank;              ///< of the communicator
      index_type first_leaf; ///< its leaves are [first_leaf, last_leaf) of the known ones
      index_type last_leaf;  ///< one past the last
      /// the own leaves that it knows, ascending, counted from the first own one. With two sets some have no sources.
      std::vector<index_type> sent;
    };

    template <class T, int Dim>
    struct tree_memory;
    struct tree_access;
  }

  /// The octree or quadtree of points that are spread over the ranks of a communicator, of one set or of two.
  ///
  ///     nearfield::starpu_mpi::distributed_tree const tree(MPI_COMM_WORLD, nearfield::soa{x, y, z},
  ///                                                        {.max_leaf_size = 64});
  ///
  /// Each rank gives the points that it has, any number of them, and receives one range of leaves along the Z curve,
  /// its *own* leaves, with their points. They are the leaves of build_tree() over all points in the order of their
  /// numbers, with leaf_order::morton; so are the points of each leaf, their order, and the lists. Beside its own
  /// leaves a rank knows those of other ranks that touch them: their places and their numbers of points. (Of two sets,
  /// those whose targets meet own sources, or whose sources meet own targets.) No rank holds more of the tree, and what
  /// each keeps for the others grows with the number of ranks, not with its square.
  ///
  /// If a GPU made the tree, the first call of positions(), numbers(), way() and their forms for sources copies from
  /// there, and that of interactions() makes lists. Do not call them from two threads at once, nor while a step is made
  /// or told of new positions.
  ///
  /// *Known* leaves and their points are in the order of the curve, with the own ones in the middle. Of two sets, what
  /// is said of points is of the targets, unless sources are named; of one set, sources are the points.
  template <class T, int Dim>
  class NEARFIELD_API distributed_tree
  {
  public:
    static constexpr int dim = Dim; ///< the dimension of space

    /// Made by `simd`, the calling thread, or by `simd.with(threads)`, to the same bits. The threads also plan the
    /// tasks of near fields over this tree, so they must outlive it.
    ///
    /// Collective: all ranks call it with the same options, but for threads and GPU. Reads the points before it returns,
    /// and leaves them where they are. Uses the communicator for collective operations: MPI must allow any thread to
    /// call it (MPI_THREAD_MULTIPLE), or no communication of StarPU-MPI be under way.
    ///
    /// An automatic leaf size is chosen once, as choose_leaf_size() does, by the costs of all ranks together: each tries
    /// sizes on a part of the points. All ranks give costs, with a far field or without.
    ///
    /// Throws nearfield::error, the same one on all ranks, for what build_tree() throws, for leaf_order::row_major, for
    /// cuts of_the_caller that overlap, and for 2^31 points or more on a rank.
    template <detail::cpu_place Where>
    distributed_tree(Where const& where, MPI_Comm communicator, strided<T const, Dim> const& points,
                     tree_options<Dim> const& options = {},
                     distribution_options const& distribution = {})
        : distributed_tree()
    {
      make(nearfield::detail::threads_of(where), communicator, {points}, options, distribution);
    }
    /// The tree of two sets, as build_tree() makes it; a rank may have points of one set only.
    template <detail::cpu_place Where, detail::columns_view Sources>
      requires std::convertible_to<Sources const&, strided<T const, Dim>>
    distributed_tree(Where const& where, MPI_Comm communicator,
                     strided<T const, Dim> const& targets, Sources const& sources,
                     tree_options<Dim> const& options = {},
                     distribution_options const& distribution = {})
        : distributed_tree()
    {
      make(nearfield::detail::threads_of(where), communicator, {targets, sources}, options,
           distribution);
    }
    /// By `simd`.
    distributed_tree(MPI_Comm communicator, strided<T const, Dim> const& points,
                     tree_options<Dim> const& options = {},
                     distribution_options const& distribution = {})
        : distributed_tree(simd, communicator, points, options, distribution)
    {}
    /// The tree of two sets by `simd`.
    template <detail::columns_view Sources>
      requires std::convertible_to<Sources const&, strided<T const, Dim>>
    distributed_tree(MPI_Comm communicator, strided<T const, Dim> const& targets,
                     Sources const& sources, tree_options<Dim> const& options = {},
                     distribution_options const& distribution = {})
        : distributed_tree(simd, communicator, targets, sources, options, distribution)
    {}
    ~distributed_tree();
    /// The moved-from tree accepts only assignment and destruction.
    distributed_tree(distributed_tree&&) noexcept;
    /// As the move constructor.
    distributed_tree& operator=(distributed_tree&&) noexcept;

    /// The tree of other points, or of the same ones after they moved, with the options of before. Collective; reuses
    /// memory, and spans are valid until then. wait() for the steps over the tree before, and tell them by their
    /// positions_changed() after.
    ///
    /// Cuts stay where they are, at the beginning of the leaves that they fall into, so that only points that have
    /// crossed one go to another rank. But where the worst rank would have distribution_options::imbalance more than
    /// the mean, the curve is cut anew, if that makes it less. What a rank would have are its interactions (points,
    /// with equal_points), each at a price: what one has just cost or what it cost before, whichever is nearer to the
    /// mean. `seconds` is what those of the last tree took on this rank, as near_field::seconds() says. If a rank that
    /// had some gives 0, all count the same. Cuts of_the_caller are always made from the points.
    ///
    /// Throws what the constructor throws, and for seconds that are negative or not finite. Coordinates or seconds that
    /// are refused leave the tree as it was; after other errors it accepts only rebuild() and destruction.
    void rebuild(strided<T const, Dim> const& points, double seconds = 0);
    /// The same for a tree of two sets. A tree keeps the number of its sets.
    void rebuild(strided<T const, Dim> const& targets, strided<T const, Dim> const& sources,
                 double seconds = 0);

    /// The communicator.
    [[nodiscard]] MPI_Comm communicator() const { return parts_.communicator; }
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const { return parts_.sets.size() == 1; }
    /// The threads that make the tree and plan the tasks of near fields over it; null: the calling one.
    [[nodiscard]] executor* threads() const { return parts_.threads; }
    /// The root box of all points, as tree::root().
    [[nodiscard]] cube<Dim> const& root() const { return parts_.root; }
    /// As tree::pieces(), of the points of all ranks.
    [[nodiscard]] std::span<nearfield::detail::axis_piece const> pieces(int axis) const&
    {
      return parts_.pieces[axis];
    }
    /// As tree::period().
    [[nodiscard]] std::array<double, Dim> const& period() const { return parts_.period; }
    /// The most points of a leaf, given or chosen; 0: the tree is uniform.
    [[nodiscard]] index_type max_leaf_size() const { return parts_.max_leaf_size; }
    /// The number of own leaves.
    [[nodiscard]] index_type size() const { return parts_.last_leaf - parts_.first_leaf; }
    /// Own leaf b is the known leaf first_leaf() + b.
    [[nodiscard]] index_type first_leaf() const { return parts_.first_leaf; }
    /// Known leaf b holds the known points [begin(b), end(b)).
    [[nodiscard]] boxes known_leaves() const& { return {targets().offsets}; }
    /// The same for sources.
    [[nodiscard]] boxes known_sources() const& { return {sources().offsets}; }
    /// The place and level of known leaf b in the lattice.
    [[nodiscard]] leaf_cell<Dim> const& cell(index_type b) const { return parts_.cells[b]; }
    /// For each own leaf, the known sources of the leaves that it meets, as tree::interactions().
    /// Of a tree whose lists a GPU has made, the first call makes them on the host, and may throw what the constructor
    /// throws, on this rank alone.
    [[nodiscard]] interaction_list interactions() const&;
    /// The other ranks that have leaves among the known ones, ascending. Of each: `rank`, its leaves
    /// [first_leaf, last_leaf) among the known ones, and `sent`, the own leaves that it knows, ascending, counted from
    /// the first own one. With two sets some of these have no sources.
    [[nodiscard]] std::span<detail::rank_layer const> layers() const& { return parts_.layers; }

    /// The number of points of own leaves.
    [[nodiscard]] index_type n_points() const
    {
      return static_cast<index_type>(targets().numbers.size());
    }
    /// The number of their sources.
    [[nodiscard]] index_type n_sources() const
    {
      return static_cast<index_type>(sources().numbers.size());
    }
    /// Own point i is the known point first_point() + i.
    [[nodiscard]] index_type first_point() const { return targets().offsets[parts_.first_leaf]; }
    /// Own source j is the known source first_source() + j.
    [[nodiscard]] index_type first_source() const { return sources().offsets[parts_.first_leaf]; }
    /// The positions of the points of own leaves, leaf by leaf; with tree_options::cell those of the images in the box.
    [[nodiscard]] soa<T const, Dim> positions() const& { return positions_of(0); }
    /// The same for sources.
    [[nodiscard]] soa<T const, Dim> source_positions() const&
    {
      return positions_of(parts_.sets.size() - 1);
    }
    /// The device of distribution_options::gpu, if it made the tree and has positions until the next rebuild().
    [[nodiscard]] std::optional<int> gpu() const;
    /// Positions of points in the memory of gpu(), if there is one.
    [[nodiscard]] soa<T const, Dim> positions_on_gpu() const& { return on_gpu(0); }
    /// The same for sources.
    [[nodiscard]] soa<T const, Dim> source_positions_on_gpu() const&
    {
      return on_gpu(parts_.sets.size() - 1);
    }
    /// The global numbers of the points of own leaves.
    [[nodiscard]] std::span<std::uint64_t const> numbers() const& { return complete(0).numbers; }
    /// The same for sources.
    [[nodiscard]] std::span<std::uint64_t const> source_numbers() const&
    {
      return complete(parts_.sets.size() - 1).numbers;
    }

    /// The keys at which the ranges of ranks begin, and the end of the last: a rank's leaves are those whose smallest
    /// key lies in its range.
    [[nodiscard]] std::span<std::uint64_t const> cuts() const& { return parts_.cuts; }
    /// The points of all ranks.
    [[nodiscard]] std::uint64_t total_points() const { return targets().total; }
    /// The sources of all ranks.
    [[nodiscard]] std::uint64_t total_sources() const { return sources().total; }
    /// The leaves of all ranks.
    [[nodiscard]] std::uint64_t total_leaves() const { return parts_.total_leaves; }
    /// The ordered pairs of different points that meet, with targets of this rank. Of two sets all pairs.
    [[nodiscard]] std::uint64_t interaction_count() const { return parts_.interaction_count; }

    /// The way between the caller's columns and own points. The caller's points sent[k] with
    /// sent_offsets[r] <= k < sent_offsets[r + 1] went to rank r. The own points received[k] came from rank r, by
    /// received_offsets in the same way.
    [[nodiscard]] detail::journey const& way() const { return complete(0).way; }
    /// That of sources.
    [[nodiscard]] detail::journey const& source_way() const
    {
      return complete(parts_.sets.size() - 1).way;
    }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void pieces(int) const&& = delete;               // give the tree a name
    void known_leaves() const&& = delete;            // give the tree a name
    void known_sources() const&& = delete;           // give the tree a name
    void interactions() const&& = delete;            // give the tree a name
    void layers() const&& = delete;                  // give the tree a name
    void positions() const&& = delete;               // give the tree a name
    void source_positions() const&& = delete;        // give the tree a name
    void positions_on_gpu() const&& = delete;        // give the tree a name
    void source_positions_on_gpu() const&& = delete; // give the tree a name
    void numbers() const&& = delete;                 // give the tree a name
    void source_numbers() const&& = delete;          // give the tree a name
    void cuts() const&& = delete;                    // give the tree a name
    /// \endcond

  private:
    using memory = detail::tree_memory<T, Dim>;
    struct own_points
    {
      nearfield::detail::page_vector<index_type> offsets; ///< in known leaves
      nearfield::detail::page_vector<std::uint64_t> numbers;
      detail::journey way;
      std::uint64_t total = 0; ///< of all ranks
    };
    struct parts
    {
      MPI_Comm communicator = MPI_COMM_NULL;
      executor* threads = nullptr;
      cube<Dim> root;
      std::array<std::vector<nearfield::detail::axis_piece>, Dim> pieces;
      std::vector<std::uint64_t> cuts;
      index_type max_leaf_size = 0, first_leaf = 0, last_leaf = 0;
      nearfield::detail::page_vector<leaf_cell<Dim>> cells;
      mutable std::vector<own_points> sets; ///< one, or targets and sources; complete() fills them
      mutable nearfield::detail::interaction_table
          lists; ///< where a GPU has them, interactions() makes them here too
      bool has_lists_on_gpu = false;
      std::array<double, Dim> period{};
      std::vector<std::array<double, 3>> shifts; ///< of the lists
      std::vector<detail::rank_layer> layers;
      std::uint64_t total_leaves = 0, interaction_count = 0;
    };
    parts parts_;
    std::unique_ptr<memory> memory_; ///< of rebuild()

    distributed_tree();
    using position_sets = std::vector<strided<T const, Dim>>; // one, or targets and sources
    void make(executor* threads, MPI_Comm communicator, position_sets const& given,
              tree_options<Dim> const& options, distribution_options const& distribution);
    void rebuild_from(position_sets const& given, double seconds);
    /// Without seconds: the first tree.
    void build(position_sets const& given, std::optional<double> seconds);
    own_points const& targets() const { return parts_.sets.front(); }
    own_points const& sources() const { return parts_.sets.back(); }
    [[nodiscard]] soa<T const, Dim> positions_of(std::size_t set) const;
    [[nodiscard]] soa<T const, Dim> on_gpu(std::size_t set) const;
    /// The lists for tasks on gpu(), in its memory, valid until the next rebuild(). Null if the GPU has made none.
    [[nodiscard]] std::shared_ptr<nearfield::detail::part_lists<Dim> const>
    lists_on_gpu(pair_form form) const;
    /// Of the caller's columns, for each own point, in the memory of gpu().
    [[nodiscard]] index_type const* caller_rows() const;
    own_points const& complete(std::size_t set) const;
    friend struct detail::tree_access;
  };

  /// The points of a rank, as soa or strided.
  template <detail::cpu_place Where, detail::columns_view X>
  distributed_tree(Where const&, MPI_Comm, X const&, tree_options<X::n_columns> const& = {},
                   distribution_options const& = {})
      -> distributed_tree<detail::value_of<X>, X::n_columns>;
  /// The targets and the sources of a rank.
  template <detail::cpu_place Where, detail::columns_view X, detail::columns_view Y>
  distributed_tree(Where const&, MPI_Comm, X const&, Y const&,
                   tree_options<X::n_columns> const& = {}, distribution_options const& = {})
      -> distributed_tree<detail::value_of<X>, X::n_columns>;
  /// The points of a rank, by `simd`.
  template <detail::columns_view X>
  distributed_tree(MPI_Comm, X const&, tree_options<X::n_columns> const& = {},
                   distribution_options const& = {})
      -> distributed_tree<detail::value_of<X>, X::n_columns>;
  /// The targets and the sources of a rank, by `simd`.
  template <detail::columns_view X, detail::columns_view Y>
  distributed_tree(MPI_Comm, X const&, Y const&, tree_options<X::n_columns> const& = {},
                   distribution_options const& = {})
      -> distributed_tree<detail::value_of<X>, X::n_columns>;

  extern template class distributed_tree<float, 2>;
  extern template class distributed_tree<float, 3>;
  extern template class distributed_tree<double, 2>;
  extern template class distributed_tree<double, 3>;
}
