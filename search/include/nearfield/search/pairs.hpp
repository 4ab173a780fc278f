#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/search/page_array.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

/// \file
/// What a radius search can output, its results in host memory, and filters of pairs. Indices are those of the arrays that
/// were given, from 0.
///
/// The *position* of a point is its place in the order of the cell list: by cell and, inside a cell, by
/// index. Lists are in these orders, on every back-end:
///
/// * COO: by the position of i, then by the position of j;
/// * CSR and table: row i belongs to point i; inside a row by the position of j;
/// * `.sorted = true`: COO lexicographic (a half list as (smaller, larger) index); CSR rows ascending.
///
/// In a periodic box with fewer than 2 cells_per_cutoff + 1 cells along an axis, a row may meet several images of a cell.
/// Cells then come axis by axis, axis 0 outermost: images from the highest to the lowest, and ascending in each. A sorted
/// list keeps this order among the images of one j, and negates d and S where it swaps i and j.

namespace nearfield
{
  /// Pairs (i, j, S) of one set, S the image of j. Full: (i, j, S) and (j, i, -S). Half: one of the two, where j has the
  /// later position or, for i = j, where the first S_a other than 0 is positive. Two sets have full lists only, with a row
  /// per query.
  enum class pairs
  {
    half,
    full
  };

  /// How a list gives the image of each pair. S_a is how often vectors[a] is added to x_j, as given:
  /// x_j + sum_a S_a vectors[a] is within the cutoff of x_i. S_a is 0 along open axes.
  enum class image_columns
  {
    none,
    counters, ///< a column of 32-bit numbers for each axis
    packed ///< one column: S_a + 512 in 10 bits, those of axis 0 the lowest; an error if one does not fit
  };

  /// No limit on the bytes of a result.
  inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  /// The number of pairs and, if asked for, of each point in such a list: all of its neighbours in a full
  /// list, those of later position in a half list.
  struct NEARFIELD_API count_pairs
  {
    pairs which = pairs::half; ///< which pairs are counted
    /// also fill pair_counts::per_point
    bool per_point = false;
  };

  /// A list with one row per point.
  struct NEARFIELD_API to_csr
  {
    pairs which = pairs::full; ///< which pairs are listed
    bool sorted = false;       ///< sort rows by index
    /// also the column of r2
    bool distances = false;
    /// also the columns of d = x_i - (x_j + sum_a S_a vectors[a])
    bool displacements = false;
    /// also S, the image of j
    image_columns images = image_columns::none;
    /// A result of more bytes throws nearfield::error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// A list of pairs in two columns.
  struct NEARFIELD_API to_coo
  {
    pairs which = pairs::half; ///< which pairs are listed
    bool sorted = false;       ///< lexicographic, by index
    /// also the column of r2
    bool distances = false;
    /// also the columns of d = x_i - (x_j + sum_a S_a vectors[a])
    bool displacements = false;
    /// also S, the image of j
    image_columns images = image_columns::none;
    /// A result of more bytes throws nearfield::error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// A table with `width` entries per point.
  struct NEARFIELD_API to_table
  {
    pairs which = pairs::full; ///< which pairs are listed
    /// 1 or more
    index_type width = 64;
    /// A result of more bytes throws nearfield::error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// The order of the pairs of a list.
  enum class pair_order
  {
    cells, ///< by the position of i, then by the position of j: that of to_coo; threads count first
    rows,  ///< by i, then by the position of j: that of to_csr; takes a count first
    sorted ///< by i, then by j; takes a count first; full lists only
  };

  namespace detail
  {
    /// A column of indices of 32 or 64 bits, with or without sign.
    class index_column
    {
    public:
      index_column() = default;
      /// One of several columns, such as those of a matrix with a pair in each row.
      template <std::integral I, int N>
        requires(sizeof(I) == 4 || sizeof(I) == 8)
      index_column(strided<I, N> const& of, int column)
          : first_(of[column].first), stride_(of.stride()), size_(of.size()), bytes_(sizeof(I))
      {}
      template <std::integral I>
      index_column(strided<I, 1> const& of) : index_column(of, 0) // NOLINT
      {}
      template <std::integral I>
      index_column(soa<I, 1> const& of) : index_column(strided<I, 1>(of), 0) // NOLINT
      {}

      [[nodiscard]] std::size_t size() const { return size_; }
      [[nodiscard]] bool is_null() const { return size_ > 0 && first_ == nullptr; }

      /// Calls f(column) with the column as one of unsigned numbers, if it has any.
      template <class F>
      void with_values(F const& f) const
      {
        if (size_ == 0) return;
        if (bytes_ == 8)
          f(strided_column<std::uint64_t>{static_cast<std::uint64_t*>(first_), stride_});
        else
          f(strided_column<std::uint32_t>{static_cast<std::uint32_t*>(first_), stride_});
      }

    private:
      void* first_ = nullptr;
      std::ptrdiff_t stride_ = 1;
      std::size_t size_ = 0;
      int bytes_ = 4;
    };
  }

  /// Writes the pairs (i, j, S) within the cutoff to your own columns, of any stride: count, allocate, fill. Give only the
  /// columns that you want, all with room for the same number of pairs. Indices have 32 or 64 bits. For a GPU, columns are in
  /// device memory.
  ///
  ///     auto const n = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{nearfield::pairs::full});
  ///     std::vector<std::int64_t> ij(2 * n.total);   // (n, 2)
  ///     auto const both = nearfield::interleaved<2>(ij);
  ///     nearfield::radius_search(nearfield::simd, cells, nearfield::to_arrays<double, 3>{.i = {both, 0}, .j = {both, 1}});
  template <class T, int Dim>
  struct NEARFIELD_API to_arrays
  {
    pairs which = pairs::full;                    ///< which pairs are listed
    pair_order order = pair_order::cells;         ///< in which order
    detail::index_column i = {};                  ///< indices of the targets
    detail::index_column j = {};                  ///< indices of the sources
    strided<T, 1> r2 = {};                        ///< squared distances, length^2
    strided<T, 1> r = {};                         ///< distances, the square root of r2
    strided<T, Dim> displacements = {};           ///< x_i - (x_j + sum_a S_a vectors[a]), length^1
    strided<T, Dim> to_j = {};                    ///< the opposite, from i to j
    strided<std::int32_t, Dim> images = {};       ///< S
    strided<std::uint32_t, 1> packed_images = {}; ///< S, as image_columns::packed
    /// where rows begin, also beyond the room: one more than rows; not in the order `cells`
    soa<std::uint64_t, 1> offsets = {};
  };

  /// Calls f(i, j, r2), or f(i, j, r2, d) if it takes d = x_i - (x_j + sum_a S_a vectors[a]) too (a vec),
  /// for every pair, one after another on the calling thread, in the order of a COO list.
  template <class F>
  struct visit
  {
    F f;                       ///< called in order, on the calling thread
    pairs which = pairs::half; ///< which pairs are visited
  };
  /// Half lists.
  template <class F>
  visit(F) -> visit<F>;
  /// Half or full lists.
  template <class F>
  visit(F, pairs) -> visit<F>;

  namespace detail
  {
    /// The neighbours of one point, in the order of a CSR row; valid only during the call that receives it.
    template <class T, int Dim>
    struct neighbour_row
    {
      index_type i = 0;              ///< the index of the point
      std::span<index_type const> j; ///< the indices of its neighbours
      std::span<T const> r2;         ///< their squared distances, length^2
      /// x_i - (x_j + sum_a S_a vectors[a]) on each axis; empty unless asked for
      std::array<std::span<T const>, Dim> d;
    };
  }

  /// Calls f(row) for the row of every point: sums over a point's neighbours (a density, a force) need no list.
  /// row.i is the index of the point. row.j has the indices of its neighbours in the order of a CSR row, row.r2 their
  /// squared distances and, if asked for, row.d[a] component a of d = x_i - (x_j + sum_a S_a vectors[a]): spans, valid
  /// during the call.
  ///
  ///     nearfield::radius_search(nearfield::simd, cells, nearfield::visit_rows{
  ///         [&](auto const& row) { for (double r2 : row.r2) density[row.i] += kernel(r2); }});
  template <class F>
  struct visit_rows
  {
    F f; ///< called as const; with `simd.with(threads)` from several at once, for different points
    pairs which = pairs::full; ///< rows of all neighbours, or of those of later position
    /// also give the displacements
    bool displacements = false;
  };
  /// Full rows.
  template <class F>
  visit_rows(F) -> visit_rows<F>;
  /// Full or half rows.
  template <class F>
  visit_rows(F, pairs) -> visit_rows<F>;
  /// With displacements or without.
  template <class F>
  visit_rows(F, pairs, bool) -> visit_rows<F>;

  /// The result of count_pairs.
  struct NEARFIELD_API pair_counts
  {
    std::uint64_t total = 0; ///< the number of pairs
    /// by index; empty unless asked for
    page_array<index_type> per_point;
  };

  namespace detail
  {
    /// r2, x_i - x_j and the image of every entry of a list; empty unless asked for.
    template <class T, int Dim>
    struct pair_geometry
    {
      page_array<T> r2;                                 ///< length^2
      std::array<page_array<T>, Dim> displacements;     ///< length^1, one column per axis
      std::array<page_array<std::int32_t>, Dim> images; ///< S, one column per axis
      page_array<std::uint32_t> packed_images;          ///< S, packed
    };
  }

  /// The result of to_csr: row i is columns[offsets[i]] ... columns[offsets[i + 1] - 1].
  template <class T, int Dim>
  struct NEARFIELD_API csr : detail::pair_geometry<T, Dim>
  {
    page_array<std::uint64_t> offsets; ///< one more than rows
    page_array<index_type> columns;    ///< indices of the sources, row by row

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
    /// The neighbours of point i < size(), not checked.
    [[nodiscard]] std::span<index_type const> row(std::size_t i) const&
    {
      return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void row(std::size_t) const&& = delete; // give the list a name
    /// \endcond
  };

  /// The result of to_coo: pair p is (i[p], j[p]).
  template <class T, int Dim>
  struct NEARFIELD_API coo : detail::pair_geometry<T, Dim>
  {
    page_array<index_type> i; ///< indices of the targets
    page_array<index_type> j; ///< indices of the sources

    /// The number of pairs.
    [[nodiscard]] std::size_t size() const { return i.size(); }
  };

  /// The result of to_table: entry k of row i is columns[i * width + k]. A row holds the first min(counts[i],
  /// width) of its points; the entries after them are not initialised.
  struct NEARFIELD_API neighbour_table
  {
    index_type width = 0; ///< entries of a row
    /// some row has more points than entries; counts are still right
    bool overflow = false;
    page_array<index_type> counts;  ///< the number of points of each row, also beyond width
    page_array<index_type> columns; ///< indices of the sources

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return counts.size(); }
    /// The neighbours of point i < size(), at most width of them; i is not checked.
    [[nodiscard]] std::span<index_type const> row(std::size_t i) const&
    {
      return {columns.data() + i * width, counts[i] < width ? counts[i] : width};
    }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void row(std::size_t) const&& = delete; // give the table a name
    /// \endcond
  };

  /// What the cutoff of a pair (i, j) is, where each point has a length a.
  enum class cutoff_by
  {
    sum,    ///< a_i + a_j, rounded: radii of atoms or grains
    larger, ///< the larger of a_i and a_j
    own     ///< a_i; full lists only, since (j, i) may count where (i, j) does not
  };

  /// Which of the pairs within the cutoff of the cell list count. No cutoff here may exceed that of the list, or the least
  /// of its systems. A member that is not given restricts nothing. Values are in the order of the arrays that were given, and
  /// lengths in the precision of the points. The filter refers to the arrays that it is made from.
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

    /// The points, or queries, whose rows are searched: those of others are empty. Not given: all. Full lists only.
    std::optional<detail::kept_span<index_type const>> rows = {};
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
      std::size_t n_targets_, n_sources_;
      T largest_cutoff_ = 0;
      filter_arrays<T> arrays_;
      // of the arrays, those that are not the caller's
      std::vector<T> squares_;
      excluded_rows excluded_;
      std::vector<unsigned char> wanted_;
    };
    extern template class row_filter<float>;
    extern template class row_filter<double>;
  }
}
