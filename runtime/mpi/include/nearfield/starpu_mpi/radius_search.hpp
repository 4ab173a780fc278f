#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// The radius search over the ranks of an MPI communicator.
///
///     nearfield::starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, nearfield::soa{x, y, z}, cutoff);
///     nearfield::coo const list = nearfield::starpu_mpi::radius_search(nearfield::simd, cells, nearfield::to_coo{});
///     // pair p: the points with the global numbers cells.numbers()[list.i[p]] and cells.numbers()[list.j[p]]
///
/// Which points are a pair, r2 and x_i - x_j are as <nearfield/search/radius_search.hpp> defines them, to the bit, on
/// any number of ranks. Each rank finds its part, and the parts of all ranks together are the list of one rank:
///
/// * a half list has each pair once, on the rank that owns the point with the smaller global number;
/// * a full list has (i, j) on the rank that owns i, and (j, i) on the one that owns j.
///
/// Indices are those of the *known* points of the rank: its own, and after them those of other ranks that it may need.
/// Point i of a pair is an own one. Lists are in no order that a user may rely on, but `.sorted` orders them by global
/// number as on one rank: COO lexicographic (a half list as (smaller, larger)); CSR rows ascending. A search sends
/// nothing, so ranks may make different ones, and what it throws it throws on one rank.

namespace nearfield::starpu_mpi
{
  /// Points that are spread over the ranks of a communicator, ready to be searched.
  ///
  /// Each rank gives the points that it has, any number of them, and receives those of one range of cells along the Z
  /// curve: its *own* points. Cells are those of a cell_list of all points, with one cell per cutoff. The
  /// ranges of ranks have about equal sums of the squares of numbers of points in cells, which is what a search costs.
  /// A cell is never divided. A periodic axis thinner than about 2 R is one cell long. In addition to
  /// its own points a rank has a *halo*: the points of other ranks that are closer than the cutoff to a cell of its range, also
  /// through periodic borders; in oblique boxes, closer along each normal.
  ///
  /// Points may lie outside the box, as in a cell_list.
  ///
  /// A batch is several systems, as in a cell_list: the offsets, and the order, count the points of all ranks from 0 on,
  /// and are the same on all ranks. A system is on one rank, so there is no halo: ranges are systems, with about equal
  /// numbers of points.
  template <nearfield::detail::cell_real T, int Dim>
  class NEARFIELD_API distributed_cells
  {
  public:
    static constexpr int dim = Dim; ///< the dimension of space
    using value_type = T;           ///< the type of the coordinates

    /// How points are distributed for a radius search; the same on all ranks.
    struct options_type
    {
      /// Short for .cell = cell<Dim>::of_lengths(period): the length L of the periodic box [0, L) along each axis; 0
      /// for an open axis.
      std::array<T, Dim> period{};
      /// A box of any shape that points repeat in; open by default.
      nearfield::cell<Dim> cell{};
      /// Whether a pair at the distance of the cutoff counts: r2 <= R^2 instead of r2 < R^2.
      bool closed = false;
      /// Cells per cutoff of the lists own() and border() on each axis, as in cell_list_options; 0: the default.
      std::array<int, Dim> cells_per_cutoff{};
      /// The global number of the first point of rank 0. Numbers go on from there, rank after rank.
      std::uint64_t first_number = 0;

      /// Those of own() and border().
      [[nodiscard]] cell_list_options<T, Dim> of_lists() const
      {
        return {cells_per_cutoff, period, cell, closed};
      }
    };

    /// Collective: all ranks call it with the same cutoff (length^1) and options. Copies the points. Uses the
    /// communicator for collective operations: MPI must allow any thread to call it (MPI_THREAD_MULTIPLE), or no
    /// communication of StarPU-MPI be under way.
    ///
    /// Throws nearfield::error, the same one on all ranks, for what cell_list throws, for 2^31 points or more on a
    /// rank, and for numbers of 2^64 or more.
    distributed_cells(MPI_Comm communicator, strided<T const, Dim> const& points, double cutoff,
                      options_type const& options = {});
    /// Collective: a batch, the same on all ranks. Throws nearfield::error, the same one on all ranks, for what cell_list
    /// throws; the options give no box.
    distributed_cells(MPI_Comm communicator, strided<T const, Dim> const& points,
                      systems<Dim> const& batch, options_type const& options = {});

    /// What was asked for.
    [[nodiscard]] options_type const& options() const { return parts_.options; }
    /// The grid of the cells of all points; of a batch, whose systems have one each, none.
    [[nodiscard]] nearfield::detail::cell_grid<T, Dim> const& grid() const& { return parts_.grid; }
    /// The keys at which the ranges of ranks begin, and the end of the last. The key of a cell has the bits of its
    /// indices in turn, that of the last axis lowest. Of a batch, keys are numbers of systems.
    [[nodiscard]] std::span<std::uint64_t const> cuts() const& { return parts_.cuts; }
    /// The points of all ranks.
    [[nodiscard]] std::uint64_t total_points() const { return parts_.total_points; }
    /// Collective: the sum of a number of each rank, such as the pairs that it has counted.
    [[nodiscard]] std::uint64_t sum_over_ranks(std::uint64_t of_this_rank) const;

    /// The own points of each system of a batch; none of a system that is on another rank. Without offsets if this is no
    /// batch.
    [[nodiscard]] systems<Dim> own_systems() const&;

    /// The number of own points: known points [0, n_points()), by cell along the curve, or by system, and in it by number.
    [[nodiscard]] std::size_t n_points() const { return parts_.n_points; }
    /// The global numbers of known points: own ones, then the halo.
    [[nodiscard]] std::span<std::uint64_t const> numbers() const& { return parts_.numbers; }
    /// The positions of known points, as the caller gave them: the image that meets a point may be another.
    [[nodiscard]] soa<T const, Dim> positions() const&;
    /// Values of known points, such as charges, from those of the points that this rank gave, in its order.
    /// Collective. Throws nearfield::error, on all ranks, if a rank has not one value for each of its points.
    template <std::ranges::contiguous_range Column>
      requires std::is_trivially_copyable_v<std::ranges::range_value_t<Column>>
    [[nodiscard]] auto known_values(Column const& given) const
    {
      using value = std::ranges::range_value_t<Column>;
      std::vector<value> known(parts_.numbers.size());
      spread(std::ranges::data(given), std::ranges::size(given), sizeof(value), known.data());
      return known;
    }

    /// The own points as a cell list.
    [[nodiscard]] cell_list<T, Dim> const& own() const& { return *parts_.own; }
    /// Two sets: query q is the own point border_points()[q], and point h the known point n_points() + h. With own() it
    /// has all pairs of own points, for searches of your own.
    [[nodiscard]] cell_list<T, Dim> const& border() const& { return *parts_.border; }
    /// The own points that are in the halo of another rank, ascending.
    [[nodiscard]] std::span<index_type const> border_points() const& { return parts_.at_border; }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void grid() const&& = delete;          // give the object a name
    void cuts() const&& = delete;          // give the object a name
    void numbers() const&& = delete;       // give the object a name
    void positions() const&& = delete;     // give the object a name
    void own() const&& = delete;           // give the object a name
    void border() const&& = delete;        // give the object a name
    void border_points() const&& = delete; // give the object a name
    void own_systems() const&& = delete;   // give the object a name
    /// \endcond

  private:
    template <class, int>
    friend class filtered;

    void spread(void const* given, std::size_t n, std::size_t size, void* known) const;

    struct parts
    {
      MPI_Comm communicator = MPI_COMM_NULL;
      options_type options;
      nearfield::detail::cell_grid<T, Dim> grid;
      std::array<std::vector<nearfield::detail::axis_piece>, Dim> pieces; // of the grid
      std::vector<std::uint64_t> cuts;
      detail::journey to_own,
          to_halo; // points of the caller, and own points, which arrive as the halo
      std::size_t n_points = 0;
      std::array<std::vector<T>, Dim> positions;
      nearfield::detail::page_vector<std::uint64_t> numbers;
      std::vector<index_type> at_border;
      // of a batch
      std::vector<index_type> offsets;
      std::vector<double> cutoffs;
      std::vector<nearfield::cell<Dim>> cells;
      std::optional<cell_list<T, Dim>> own, border;
      std::uint64_t total_points = 0;
    };
    parts parts_;
  };

  /// The points of a rank, as soa or strided.
  template <detail::columns_view X>
  distributed_cells(
      MPI_Comm, X const&, double,
      typename distributed_cells<detail::value_of<X>, X::n_columns>::options_type const& = {})
      -> distributed_cells<detail::value_of<X>, X::n_columns>;

  /// The points of a rank of a batch.
  template <detail::columns_view X>
  distributed_cells(
      MPI_Comm, X const&, systems<X::n_columns> const&,
      typename distributed_cells<detail::value_of<X>, X::n_columns>::options_type const& = {})
      -> distributed_cells<detail::value_of<X>, X::n_columns>;

  extern template class distributed_cells<float, 2>;
  extern template class distributed_cells<float, 3>;
  extern template class distributed_cells<double, 2>;
  extern template class distributed_cells<double, 3>;

  /// Which pairs of distributed points count, as those of nearfield::pair_filter. Columns have the values of the points
  /// that this rank gave, in its order, and a rank without points gives none; type_cutoffs and `by` are the same on all
  /// ranks.
  template <class T>
  struct pair_filter
  {
    nearfield::detail::kept_span<index_type const> types =
        {}; ///< the type of each point, from 0 on
    /// A symmetric matrix, row by row: the cutoff of each pair of types, length^1; 0: such pairs never count.
    nearfield::detail::kept_span<T const> type_cutoffs = {};
    nearfield::detail::kept_span<T const> radii = {}; ///< a of each point, length^1
    cutoff_by by = cutoff_by::sum;                    ///< how two of them make a cutoff

    /// A row for each point: excluded[excluded_offsets[i]] ... are the global numbers of points that have no pairs with
    /// point i, in no image, on either side.
    nearfield::detail::kept_span<std::uint64_t const> excluded_offsets = {};
    nearfield::detail::kept_span<std::uint64_t const> excluded = {}; ///< global numbers

    /// The points whose rows are searched, as numbers among those that this rank gave; other rows are empty. If no rank
    /// gives any, all rows are searched; if only this rank gives none, none of its own. Full lists only.
    std::optional<nearfield::detail::kept_span<index_type const>> rows = {};
  };

  /// Distributed points of which only some pairs count; every search takes it for the points.
  ///
  ///     std::array<double, 4> const by_type{3.0, 2.5, 2.5, 0};   // pairs of two points of type 1 never count
  ///     nearfield::starpu_mpi::filtered const some(cells, {.types = type, .type_cutoffs = by_type});
  ///     nearfield::csr const list = nearfield::starpu_mpi::radius_search(nearfield::simd, some, nearfield::to_csr{});
  ///
  /// It refers to the cells; the arrays of the filter may be freed.
  template <class T, int Dim>
  class NEARFIELD_API filtered
  {
  public:
    static constexpr int dim = Dim; ///< the dimension of space
    using value_type = T;           ///< of coordinates and cutoffs

    /// Collective: values and excluded pairs travel to where points are known. Throws nearfield::error, the same one on all
    /// ranks, for what `filtered` of a cell_list throws, and for numbers that no point has.
    filtered(distributed_cells<T, Dim> const& cells, pair_filter<T> const& which);
    /// Deleted: the temporary ends before the filter.
    filtered(distributed_cells<T, Dim> const&& give_the_cells_a_name,
             pair_filter<T> const&) = delete;

    /// The points.
    [[nodiscard]] distributed_cells<T, Dim> const& cells() const { return *cells_; }
    /// distributed_cells::own() with this filter.
    [[nodiscard]] nearfield::filtered<cell_list<T, Dim>> const& own() const& { return *own_; }
    /// distributed_cells::border() with this filter.
    [[nodiscard]] nearfield::filtered<cell_list<T, Dim>> const& border() const& { return *border_; }
    /// The filter of own().
    [[nodiscard]] nearfield::pair_filter<T> filter_of_own() const& { return own_values_.filter(); }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void own() const&& = delete;           // give the object a name
    void border() const&& = delete;        // give the object a name
    void filter_of_own() const&& = delete; // give the object a name
    /// \endcond

  private:
    /// What a filter of one list refers to.
    struct values
    {
      std::vector<index_type> types, query_types;
      std::vector<T> type_cutoffs, radii, query_radii;
      cutoff_by by{};
      std::vector<std::uint64_t> excluded_offsets;
      std::vector<index_type> excluded;
      bool has_rows = false;
      std::vector<index_type> rows;

      [[nodiscard]] nearfield::pair_filter<T> filter() const;
    };
    using exclusion = std::array<std::uint64_t, 2>; // global numbers

    std::vector<exclusion> known_exclusions(pair_filter<T> const& which) const;
    void exclude(std::vector<exclusion> const& known);

    distributed_cells<T, Dim> const* cells_;
    values own_values_, border_values_;
    std::optional<nearfield::filtered<cell_list<T, Dim>>> own_, border_;
  };
  extern template class filtered<float, 2>;
  extern template class filtered<float, 3>;
  extern template class filtered<double, 2>;
  extern template class filtered<double, 3>;
}

namespace nearfield::starpu_mpi::detail
{
  template <class T, int Dim>
  distributed_cells<T, Dim> const& points_of(distributed_cells<T, Dim> const& cells)
  {
    return cells;
  }
  template <class T, int Dim>
  distributed_cells<T, Dim> const& points_of(filtered<T, Dim> const& some)
  {
    return some.cells();
  }
  /// Distributed cells, or those of which only some pairs count.
  template <class Cells>
  concept spread_cells = requires(Cells const& cells) { detail::points_of(cells); };
  template <class Cells>
  using coo_of = coo<typename Cells::value_type, Cells::dim>;
  template <class Cells>
  using csr_of = csr<typename Cells::value_type, Cells::dim>;

  /// Searches own().
  template <class Where, class Cells, class What, class Found>
  void search_own(Where const& where, Cells const& cells, What const& what, Found& found)
  {
    nearfield::radius_search(where, cells.own(), what, found);
  }
  /// The same pairs, in this order, on the current device.
  template <class T, int Dim, class What, class Found>
  NEARFIELD_API void search_own(cuda_backend where, distributed_cells<T, Dim> const& cells,
                                What const& what, Found& found);
  template <class T, int Dim, class What, class Found>
  NEARFIELD_API void search_own(cuda_backend where, filtered<T, Dim> const& some, What const& what,
                                Found& found);

  /// Of the pairs of border(), leaves those that belong to this rank; indices become those of known points.
  template <class T, int Dim>
  NEARFIELD_API void keep_own_pairs(distributed_cells<T, Dim> const& cells, pairs which,
                                    coo<T, Dim>& border);
  /// Replaces the counters of images.
  template <class T, int Dim>
  NEARFIELD_API void pack_images(coo<T, Dim>& list);
  /// Appends `border` to a list.
  template <class T, int Dim>
  NEARFIELD_API void append(coo<T, Dim>& list, coo<T, Dim> const& border);
  /// Adds `border` to rows of own points and sorts them, if asked for, on these threads or the calling one.
  template <class T, int Dim>
  NEARFIELD_API void add_to_rows(executor* on, distributed_cells<T, Dim> const& cells, bool sorted,
                                 coo<T, Dim> const& border, csr<T, Dim>& rows);
  /// The pairs of sorted full rows, by number.
  template <class T, int Dim>
  NEARFIELD_API coo<T, Dim> sorted_pairs(distributed_cells<T, Dim> const& cells, pairs which,
                                         csr<T, Dim> const& rows);

  /// The pairs of this rank with the halo, which are few: a CPU finds them.
  template <class Where, class Cells>
  coo_of<Cells> border_pairs(Where const& where, Cells const& cells, to_coo const& what)
  {
    to_coo all = what;
    all.which = pairs::full;
    all.max_bytes = no_limit;
    // those of pairs that stay fit, or it is an error
    if (what.images == image_columns::packed) all.images = image_columns::counters;
    coo_of<Cells> list;
    if constexpr (std::same_as<Where, cuda_backend>)
      list = nearfield::radius_search(simd, cells.border(), all);
    else
      list = nearfield::radius_search(where, cells.border(), all);
    keep_own_pairs(points_of(cells), what.which, list);
    if (what.images == image_columns::packed) pack_images(list);
    return list;
  }

  /// Throws nearfield::error if a list with so many indices of each pair would exceed the limit.
  template <class Where, class Cells, class Options>
  void check_limit(Where const& where, Cells const& cells, Options const& what,
                   std::uint64_t indices_of_a_pair, std::uint64_t other_bytes)
  {
    if (what.max_bytes == no_limit) return;
    std::uint64_t const n = radius_search(where, cells, count_pairs{what.which}).total;
    std::uint64_t const of_pair =
        indices_of_a_pair * sizeof(index_type) +
        nearfield::detail::geometry_bytes<typename Cells::value_type, Cells::dim>(what);
    nearfield::detail::check_bytes(n, n * of_pair + other_bytes, what.max_bytes);
  }

  /// What a user's function of pairs is to pairs of border(): f(before..., i, j, r2, d) of known points.
  template <class T, int Dim, class F>
  struct border_visitor
  {
    distributed_cells<T, Dim> const& cells;
    pairs which;
    F& f;

    template <class... Before>
    void call(index_type query, index_type j, T r2, vec<T, Dim> const& d, Before&... before) const
    {
      index_type const i = cells.border_points()[query];
      j += static_cast<index_type>(cells.n_points());
      if (which == pairs::half && cells.numbers()[j] < cells.numbers()[i]) return; // another rank's
      if constexpr (nearfield::detail::takes_displacement<F, T, Dim, Before&...>)
        f(before..., i, j, r2, d);
      else
        f(before..., i, j, r2);
    }
  };

  template <class Where>
  concept list_place = cpu_place<Where> || std::same_as<Where, cuda_backend>;
}

namespace nearfield::starpu_mpi
{
  /// Counts this rank's pairs in total and, if asked for, of each own point in such a list, in which a half list has a
  /// pair of own points at one of them. Like lists, they are found on CPUs, or with cuda on the current device, to which
  /// each search copies the own points; results are in host memory.
  template <detail::list_place Where, detail::spread_cells Cells>
  [[nodiscard]] pair_counts radius_search(Where const& where, Cells const& cells,
                                          count_pairs const& what)
  {
    pair_counts counts;
    detail::search_own(where, cells, what, counts);
    auto const border = detail::border_pairs(where, cells, to_coo{what.which});
    counts.total += border.size();
    if (what.per_point)
      for (index_type const i : border.i) ++counts.per_point[i];
    return counts;
  }

  /// This rank's pairs. Throws nearfield::error for a result larger than max_bytes.
  template <detail::list_place Where, detail::spread_cells Cells>
  [[nodiscard]] detail::coo_of<Cells> radius_search(Where const& where, Cells const& cells,
                                                    to_coo const& what)
  {
    auto const& points = detail::points_of(cells);
    detail::check_limit(where, cells, what, 2, 0);
    detail::coo_of<Cells> list;
    if (what.sorted)
    {
      // a half list has one of two opposite images of a point
      bool const asks =
          what.images != image_columns::none || points.own().view().meets_several_images();
      to_csr const rows{pairs::full, true, what.distances, what.displacements,
                        asks ? image_columns::counters : image_columns::none};
      list = detail::sorted_pairs(points, what.which, radius_search(where, cells, rows));
      if (what.images == image_columns::packed) detail::pack_images(list);
      if (what.images == image_columns::none) list.images = {};
      return list;
    }
    to_coo unlimited = what;
    unlimited.max_bytes = no_limit;
    detail::search_own(where, cells, unlimited, list);
    detail::append(list, detail::border_pairs(where, cells, what));
    return list;
  }

  /// A row for each own point: of all its neighbours or, in a half list, with each pair in one row of this rank. Throws
  /// nearfield::error for a result larger than max_bytes.
  template <detail::list_place Where, detail::spread_cells Cells>
  [[nodiscard]] detail::csr_of<Cells> radius_search(Where const& where, Cells const& cells,
                                                    to_csr const& what)
  {
    auto const& points = detail::points_of(cells);
    detail::check_limit(where, cells, what, 1, (points.n_points() + 1) * sizeof(std::uint64_t));
    to_csr unsorted = what;
    unsorted.sorted = false;
    unsorted.max_bytes = no_limit;
    detail::csr_of<Cells> rows;
    detail::search_own(where, cells, unsorted, rows);
    auto const border = detail::border_pairs(
        where, cells, {what.which, false, what.distances, what.displacements, what.images});
    executor* threads = nullptr;
    if constexpr (detail::cpu_place<Where>) threads = nearfield::detail::threads_of(where);
    detail::add_to_rows(threads, points, what.sorted, border, rows);
    return rows;
  }

  /// Calls f(i, j, r2), or f(i, j, r2, d) if it takes d = x_i - (x_j + sum_a S_a vectors[a]) too (a vec), for every
  /// pair of this rank, one after another on the calling thread.
  template <nearfield::detail::cpu_backend Where, detail::spread_cells Cells, class F>
  void radius_search(Where where, Cells const& cells, visit<F> what)
  {
    using T = typename Cells::value_type;
    constexpr int dim = Cells::dim;
    using function = std::remove_reference_t<F>;
    nearfield::radius_search(where, cells.own(), visit<function&>{what.f, what.which});
    detail::border_visitor<T, dim, function> const to{detail::points_of(cells), what.which, what.f};
    auto const call = [&](index_type i, index_type j, T r2, vec<T, dim> const& d)
    {
      to.call(i, j, r2, d);
    };
    nearfield::radius_search(where, cells.border(), visit{call, pairs::full});
  }

  /// One value computed from this rank's pairs, as reduce says: from pairs of own points, in `parts` parts, and then
  /// from those with the halo, in as many. The bits depend on the ranks, and not on the workers. The values of ranks are
  /// yours to combine.
  template <detail::cpu_place Where, detail::spread_cells Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(Where const& where, Cells const& cells,
                                reduce<R, F, Combine> const& what)
  {
    using T = typename Cells::value_type;
    constexpr int dim = Cells::dim;
    R result = nearfield::radius_search(where, cells.own(), what);
    detail::border_visitor<T, dim, F const> const to{detail::points_of(cells), what.which, what.f};
    auto const add = [&](R& sum, index_type i, index_type j, T r2, vec<T, dim> const& d)
    {
      to.call(i, j, r2, d, sum);
    };
    what.combine(result, nearfield::radius_search(
                             where, cells.border(),
                             reduce{what.init, add, what.combine, pairs::full, what.parts}));
    return result;
  }
}
