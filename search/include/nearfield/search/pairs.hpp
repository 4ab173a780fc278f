#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/search/page_array.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>

/// \file
/// What a radius search can give, and its results in host memory. Indices are the caller's, from 0.
///
/// *Position* is the place of a point in the order of the cell list: by cell and, inside a cell, by the
/// caller's index. Lists come in these orders, on every back-end:
///
/// * COO: by the position of i, then by the position of j;
/// * CSR and table: row i is the caller's point i; inside a row by the position of j;
/// * `.sorted = true`: COO lexicographic (a half list as (smaller, larger) index); CSR rows ascending.

namespace nearfield
{
  /// Which pairs of one set of points: every unordered pair once, at the point whose position comes first;
  /// or both (i, j) and (j, i). Two sets have full lists only, a row for each query.
  enum class pairs
  {
    half,
    full
  };

  /// No limit for the bytes of a result.
  inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  /// How many pairs there are, and how many each point has in the list asked for: all of its neighbours in a
  /// full one, those of later position in a half one.
  struct count_pairs
  {
    pairs which = pairs::half; ///< which of them are counted
    /// fill pair_counts::per_point too
    bool per_point = false;
  };

  /// A list with one row for every point.
  struct to_csr
  {
    pairs which = pairs::full; ///< which of them are listed
    bool sorted = false;       ///< rows ascending by the caller's index
    /// the column of r2 too
    bool distances = false;
    /// the columns of x_i - x_j too, nearest image
    bool displacements = false;
    /// A larger result throws error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// A list of pairs as two columns.
  struct to_coo
  {
    pairs which = pairs::half; ///< which of them are listed
    bool sorted = false;       ///< lexicographic, by the caller's indices
    /// the column of r2 too
    bool distances = false;
    /// the columns of x_i - x_j too, nearest image
    bool displacements = false;
    /// A larger result throws error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// A table with `width` places for every point: full, or each pair at the point whose position comes
  /// first.
  struct to_table
  {
    pairs which = pairs::full; ///< which of them are listed
    /// 1 or more
    index_type width = 64;
    /// A larger result throws error before its columns are allocated.
    std::uint64_t max_bytes = no_limit;
  };

  /// f(i, j, r2), or f(i, j, r2, d) where it takes d = x_i - x_j too (a vec, nearest image), for every pair,
  /// one after the other on the calling thread, in the order of a COO list.
  template <class F>
  struct visit
  {
    F f;                       ///< called in order, on the calling thread
    pairs which = pairs::half; ///< which of them are visited
  };
  /// Half lists.
  template <class F>
  visit(F) -> visit<F>;
  /// Half or full ones.
  template <class F>
  visit(F, pairs) -> visit<F>;

  /// The neighbours of one point, in the order of a CSR row; valid during the call that gets it.
  template <class T, int Dim>
  struct neighbour_row
  {
    index_type i = 0;              ///< the caller's index
    std::span<index_type const> j; ///< the caller's indices of the neighbours
    std::span<T const> r2;         ///< their squared distances, length^2
    /// x_i - x_j on each axis, nearest image; empty unless asked for
    std::array<std::span<T const>, Dim> d;
  };

  /// f(row) for the row of every point: what a point's neighbours add up to (a density, a force) needs no
  /// list.
  ///
  ///     nearfield::radius_search(nearfield::simd, cells, nearfield::visit_rows{
  ///         [&](auto const& row) { for (double r2 : row.r2) density[row.i] += kernel(r2); }});
  template <class F>
  struct visit_rows
  {
    F f; ///< called through a const object; as StarPU tasks by several threads at once, for different points
    pairs which = pairs::full; ///< whether a row holds all neighbours, or those of later position
    /// the displacements too
    bool displacements = false;
  };
  /// Full rows.
  template <class F>
  visit_rows(F) -> visit_rows<F>;
  /// Full or half ones.
  template <class F>
  visit_rows(F, pairs) -> visit_rows<F>;
  /// With displacements or without.
  template <class F>
  visit_rows(F, pairs, bool) -> visit_rows<F>;

  /// What count_pairs gives.
  struct pair_counts
  {
    std::uint64_t total = 0; ///< of pairs
    /// of the caller's point i; empty unless asked for
    page_array<index_type> per_point;
  };

  /// r2 and x_i - x_j of every entry of a list, where they were asked for; empty otherwise.
  template <class T, int Dim>
  struct pair_geometry
  {
    page_array<T> r2;                             ///< length^2
    std::array<page_array<T>, Dim> displacements; ///< length^1, one column an axis
  };

  /// What to_csr gives: row i holds columns[offsets[i]] ... columns[offsets[i + 1] - 1].
  template <class T, int Dim>
  struct csr : pair_geometry<T, Dim>
  {
    page_array<std::uint64_t> offsets; ///< one more than there are rows
    page_array<index_type> columns;    ///< the caller's indices, row after row

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
    /// The neighbours of the caller's point i < size(), not checked.
    [[nodiscard]] std::span<index_type const> row(std::size_t i) const
    {
      return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
  };

  /// What to_coo gives: pair p is (i[p], j[p]).
  template <class T, int Dim>
  struct coo : pair_geometry<T, Dim>
  {
    page_array<index_type> i; ///< the caller's index
    page_array<index_type> j; ///< the caller's index

    /// The number of pairs.
    [[nodiscard]] std::size_t size() const { return i.size(); }
  };

  /// What to_table gives: place k of row i is columns[i * width + k]; a row holds the first
  /// min(counts[i], width) of its points, and the places after them are not written.
  struct neighbour_table
  {
    index_type width = 0; ///< places of a row
    /// a row has more points than places; counts are true
    bool overflow = false;
    page_array<index_type> counts;  ///< how many points each row has
    page_array<index_type> columns; ///< the caller's indices

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return counts.size(); }
    /// The neighbours of the caller's point i < size(), as many as there was room for.
    [[nodiscard]] std::span<index_type const> row(std::size_t i) const
    {
      return {columns.data() + i * width, counts[i] < width ? counts[i] : width};
    }
  };
}
