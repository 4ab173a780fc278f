#pragma once

/// \file
/// All outputs of a radius search.
///
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};   // <nearfield/tree/cell_list.hpp>
///     auto const counts = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{});
///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, cells, nearfield::to_csr{});
///
/// A pair is listed if r2 < R^2. Here d = x_i - x_j in the precision of the points, minus L round(d / L) on a
/// periodic axis; r2 = (d_x d_x + d_y d_y) + d_z d_z with every operation rounded; R^2 is rounded once. Two
/// points at the same place are a pair; i = j is not. Lists are the same, in the same order, on every
/// back-end and instruction set. If a search throws, a result passed to it is unchanged or empty.

#include <nearfield/search/outputs.hpp>
#include <nearfield/search/reduce.hpp>
#include <nearfield/search/visit.hpp>

namespace nearfield
{
  /// Counts the pairs of points closer than the cutoff: in total and, if asked for, per point. The fastest
  /// output; it takes no memory but the counts. Throws nearfield::error for pairs::half with two sets.
  template <cpu_backend Backend, has_cell_view Cells>
  void radius_search(Backend where, Cells const& cells, count_pairs const& what,
                     pair_counts& result)
  {
    detail::search_list(detail::isa_of(where), cells.view(), what, result);
  }

  /// As above, returning new counts.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] pair_counts radius_search(Backend where, Cells const& cells,
                                          count_pairs const& what)
  {
    pair_counts result;
    radius_search(where, cells, what, result);
    return result;
  }

  /// Writes a list with one row per point, or per query, in the order of the arrays that were given. It
  /// takes two passes: counts give the places of rows, which are not in order of position, and exact
  /// sizes. Throws nearfield::error for a half list of two sets, a result larger than max_bytes, and
  /// memory that the system refuses.
  template <cpu_backend Backend, has_cell_view Cells, class T, int Dim>
  void radius_search(Backend where, Cells const& cells, to_csr const& what, csr<T, Dim>& result)
  {
    detail::search_list(detail::isa_of(where), cells.view(), what, result);
  }

  /// As above, returning a new list.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] auto radius_search(Backend where, Cells const& cells, to_csr const& what)
  {
    auto result = detail::list_for<csr>(cells.view());
    radius_search(where, cells, what, result);
    return result;
  }

  /// Writes the pairs to columns i and j, in one pass, into address space for as many pairs as the cells can
  /// have; what is not written takes no memory. The pairs are counted first if that many would exceed
  /// max_bytes, if the system refuses the address space, and for sorted lists. Throws nearfield::error for a
  /// half list of two sets, a result larger than max_bytes, and memory that the system refuses.
  ///
  /// Pass the same result again to reuse its memory: the page faults of a new one take a
  /// third of the time or more.
  template <cpu_backend Backend, has_cell_view Cells, class T, int Dim>
  void radius_search(Backend where, Cells const& cells, to_coo const& what, coo<T, Dim>& result)
  {
    detail::search_list(detail::isa_of(where), cells.view(), what, result);
  }

  /// As above, returning a new list.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] auto radius_search(Backend where, Cells const& cells, to_coo const& what)
  {
    auto result = detail::list_for<coo>(cells.view());
    radius_search(where, cells, what, result);
    return result;
  }

  /// Writes a table of fixed width: the first `width` points of every row, and the number that it really has.
  /// One pass. Throws nearfield::error for a half list of two sets, width 0, a result larger than max_bytes,
  /// and memory that the system refuses.
  template <cpu_backend Backend, has_cell_view Cells>
  void radius_search(Backend where, Cells const& cells, to_table const& what,
                     neighbour_table& result)
  {
    detail::search_list(detail::isa_of(where), cells.view(), what, result);
  }

  /// As above, returning a new table.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(Backend where, Cells const& cells,
                                              to_table const& what)
  {
    neighbour_table result;
    radius_search(where, cells, what, result);
    return result;
  }
}
