#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

/// \file
/// Which of the pairs within the cutoff of a cell list count: cutoffs by type or by point, excluded pairs, and the rows of
/// some points only.

namespace nearfield
{
  /// What the cutoff of a pair (i, j) is, where each point has a length a.
  enum class cutoff_by
  {
    sum,    ///< a_i + a_j, rounded: radii of atoms or grains
    larger, ///< the larger of a_i and a_j
    own     ///< a_i; full lists only, since (j, i) may count where (i, j) does not
  };

  /// Which pairs count, beside the cutoff of the cell list, or the least of its systems, which no other cutoff may exceed.
  /// What is not given does not restrict. Values of points are in the order of the arrays that were given, in the precision
  /// of the points, and those of a set of points: with two sets, queries have theirs. It refers to what it is made from.
  template <class T>
  struct pair_filter
  {
    /// The type of each point, from 0 on.
    detail::kept_span<index_type const> types = {};
    detail::kept_span<index_type const> query_types =
        {}; ///< the same of the queries, with two sets
    /// A symmetric matrix, row by row: the cutoff of each pair of types, length^1; 0: such pairs never count.
    detail::kept_span<T const> type_cutoffs = {};

    detail::kept_span<T const> radii = {};       ///< a of each point, length^1
    detail::kept_span<T const> query_radii = {}; ///< the same of the queries, with two sets
    cutoff_by by = cutoff_by::sum;               ///< what they mean

    /// A row for each point, or query: excluded[excluded_offsets[i]] ... are the points that it has no pairs with, in
    /// no image. Of one set, (i, j) excludes (j, i) too.
    detail::kept_span<std::uint64_t const> excluded_offsets = {};
    detail::kept_span<index_type const> excluded = {}; ///< indices of points

    /// The points, or queries, whose rows are searched: those of others are empty. None: all. Full lists only.
    detail::kept_span<index_type const> rows = {};
  };

  namespace detail
  {
    /// What a filter looks up; empty where it does not restrict.
    template <class T>
    struct filter_arrays
    {
      std::span<index_type const> types, query_types;
      std::span<T const> squares; ///< of the cutoffs of types; -1 for 0
      std::size_t n_types = 0;
      std::span<T const> radii, query_radii;
      cutoff_by by = cutoff_by::sum;
      bool is_closed = false; ///< whether r2 may be a square itself
      std::span<std::uint64_t const> excluded_offsets;
      std::span<index_type const> excluded;  ///< of one set, each pair in both rows
      std::span<unsigned char const> wanted; ///< by row
    };

    /// The least cutoff of systems, and whether it counts itself.
    template <class T>
    struct cutoff_limit
    {
      T most = std::numeric_limits<T>::infinity();
      bool is_closed = false;
    };
    /// grid(s) is the grid of system s.
    template <class T, class Grid>
    cutoff_limit<T> limit_of(std::size_t n_systems, Grid const& grid)
    {
      cutoff_limit<T> limit;
      for (std::size_t s = 0; s < n_systems; ++s)
      {
        T const cutoff = grid(s).cutoff;
        limit.most = std::min(limit.most, cutoff);
        limit.is_closed |= grid(s).cutoff_squared > cutoff * cutoff;
      }
      return limit;
    }

    template <class T, int Dim>
    cutoff_limit<T> limit_of_view(cell_view<T, Dim> const& cells)
    {
      return limit_of<T>(cells.systems.size(),
                         [&](std::size_t s) -> auto const& { return cells.systems[s].grid; });
    }

    /// A pair_filter as searches use it: checked, and with what is looked up in its rows.
    template <class T>
    class NEARFIELD_API row_filter
    {
    public:
      /// Throws nearfield::error for what pair_filter does not allow.
      row_filter(pair_filter<T> const& of, std::size_t n_targets, std::size_t n_sources,
                 bool one_set, cutoff_limit<T> cutoff);

      row_filter(row_filter&&) = default; // a copy would look up in the arrays of the other

      /// Whether r2 decides, beside the indices.
      [[nodiscard]] bool needs_distances() const
      {
        return !arrays_.squares.empty() || !arrays_.query_radii.empty();
      }
      /// Whether row i is searched.
      [[nodiscard]] bool wants(index_type i) const { return wants_all() || arrays_.wanted[i] != 0; }
      [[nodiscard]] bool wants_all() const { return arrays_.wanted.empty(); }
      [[nodiscard]] filter_arrays<T> const& arrays() const { return arrays_; }
      /// Throws nearfield::error for a list of other points, and for a half list of pairs that count one way only.
      /// Also for a cutoff of the list below those of the filter.
      void check(pairs which, std::size_t n_targets, std::size_t n_sources, T cutoff) const;

      /// keep[k] = whether the pair of i and j[k] counts, for n pairs. r2 is read if needs_distances().
      void mark(index_type i, index_type const* j, T const* r2, index_type n,
                unsigned char* keep) const;

    private:
      void exclude(pair_filter<T> const& of, bool one_set);

      std::size_t n_targets_, n_sources_;
      T largest_cutoff_ = 0;
      filter_arrays<T> arrays_;
      // of the arrays, those that are not the caller's
      std::vector<T> squares_;
      std::vector<std::uint64_t> excluded_offsets_;
      std::vector<index_type> excluded_;
      std::vector<unsigned char> wanted_;
    };
    extern template class row_filter<float>;
    extern template class row_filter<double>;
  }

  /// A cell list of which only some pairs count; every search takes it for the list.
  ///
  ///     std::array<double, 4> const by_type{3.0, 2.5, 2.5, 0};   // pairs of two points of type 1 never count
  ///     nearfield::filtered const some{cells, {.types = type, .type_cutoffs = by_type}};
  ///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, some, nearfield::to_csr{});
  ///
  /// It holds after cells.rebuild() too, for as many points. The constructor throws nearfield::error for arrays of the
  /// wrong size, types and points that are not there, a matrix that is not symmetric, cutoffs that are negative, not
  /// finite or larger than that of the list; a search, if the list has other points than before, and for a half list if the
  /// filter has `rows`, or radii that are the cutoffs of their own point.
  template <detail::has_cell_view Cells>
  class filtered
  {
  public:
    using value_type = typename Cells::value_type; ///< of coordinates and cutoffs

    /// Refers to the cells and to the arrays of the filter.
    filtered(Cells const& cells, pair_filter<value_type> const& which)
        : cells_(&cells), filter_(of(cells.view(), which))
    {}
    /// Deleted: the temporary ends before the filter.
    filtered(Cells const&& give_the_list_a_name, pair_filter<value_type> const&) = delete;

    /// As that of the cell list.
    [[nodiscard]] auto view() const&
    {
      auto cells = cells_->view();
      cells.filter = &filter_;
      return cells;
    }
    /// \cond
    void view() const&& = delete; // give it a name
    /// \endcond

  private:
    template <int Dim>
    static detail::row_filter<value_type> of(detail::cell_view<value_type, Dim> const& cells,
                                             pair_filter<value_type> const& which)
    {
      return {which, cells.target_order.size(), cells.source_order.size(), cells.one_set,
              detail::limit_of_view(cells)};
    }

    Cells const* cells_;
    detail::row_filter<value_type> filter_;
  };
}
