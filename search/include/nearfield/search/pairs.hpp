#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/search/page_array.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>

/// \file
/// What a radius search can output, and its results in host memory. Indices are those of the arrays
/// that were given, from 0.
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
    F f; ///< called as const; by StarPU tasks from several threads at once, for different points
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
}
