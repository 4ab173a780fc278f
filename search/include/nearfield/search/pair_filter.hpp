#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
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

  /// Which pairs count, beside the cutoff of the cell list, or the least of its systems, which no other cutoff may exceed. What is not given does not
  /// restrict. Values of points are in the order of the arrays that were given, in the precision of the points, and those
  /// of a set of points: with two sets, queries have theirs. It refers to what it is made from.
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

    /// The points, or queries, whose rows are searched: those of others are empty. Full lists only.
    detail::kept_span<index_type const> rows = {};
  };

  namespace detail
  {
    /// A pair_filter as searches use it: checked, and with what is looked up in its rows.
    template <class T>
    class NEARFIELD_API row_filter
    {
    public:
      /// Throws nearfield::error for what pair_filter does not allow.
      row_filter(pair_filter<T> const& of, std::size_t n_targets, std::size_t n_sources,
                 bool one_set, T cutoff, bool closed);

      /// Whether r2 decides, beside the indices.
      [[nodiscard]] bool needs_distances() const
      {
        return !squares_.empty() || !query_radii_.empty();
      }
      /// Whether row i is searched.
      [[nodiscard]] bool wants(index_type i) const { return wanted_.empty() || wanted_[i]; }
      [[nodiscard]] bool wants_all() const { return wanted_.empty(); }
      /// Whether (i, j) counts if and only if (j, i) does.
      [[nodiscard]] bool is_symmetric() const { return wants_all() && !is_own_; }
      [[nodiscard]] std::size_t n_targets() const { return n_targets_; }
      [[nodiscard]] std::size_t n_sources() const { return n_sources_; }

      /// keep[k] = whether the pair of i and j[k] counts, for n pairs. r2 is read if needs_distances().
      void mark(index_type i, index_type const* j, T const* r2, index_type n,
                unsigned char* keep) const;

    private:
      void exclude(pair_filter<T> const& of, bool one_set);

      std::size_t n_targets_, n_sources_;
      bool is_closed_, is_own_ = false;
      std::span<index_type const> types_, query_types_;
      std::size_t n_types_ = 0;
      std::vector<T> squares_; // of the cutoffs of types; -1 for 0
      std::span<T const> radii_, query_radii_;
      cutoff_by by_;
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
      bool closed = false;
      value_type least = std::numeric_limits<value_type>::infinity();
      for (auto const& system : cells.systems)
      {
        value_type const cutoff = system.grid.cutoff;
        closed |= system.grid.cutoff_squared > cutoff * cutoff;
        least = std::min(least, cutoff);
      }
      return {which, cells.target_order.size(), cells.source_order.size(), cells.one_set, least,
              closed};
    }

    Cells const* cells_;
    detail::row_filter<value_type> filter_;
  };
}
