#pragma once

#include <nearfield/search/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// \file
/// How rows become counts, lists and tables, compiled for each precision and dimension: as a whole for
/// radius_search.hpp, and in parts for tasks, which write parts of a list.

namespace nearfield::detail
{
  /// An empty list for the points of a view.
  template <template <class, int> class List, class T, int Dim>
  List<T, Dim> list_for(cell_view<T, Dim> const&)
  {
    return {};
  }

  template <class Options>
  row_content content_of(Options const& what)
  {
    return what.displacements ? row_content::displacements
           : what.distances   ? row_content::distances
                              : row_content::indices;
  }

  /// The bytes of r2 and x_i - x_j of a pair.
  template <class T, int Dim, class Options>
  std::uint64_t geometry_bytes(Options const& what)
  {
    return (what.distances ? sizeof(T) : 0) + (what.displacements ? Dim * sizeof(T) : 0);
  }

  /// Throws nearfield::error if `bytes`, the size of a result of n_pairs pairs, exceeds max_bytes.
  NEARFIELD_API void check_bytes(std::uint64_t n_pairs, std::uint64_t bytes,
                                 std::uint64_t max_bytes);
  /// Throws nearfield::error for a table of width 0, and for one that would exceed max_bytes.
  NEARFIELD_API void check_table_size(to_table const& what, std::uint64_t n);

  /// Leaves an empty result if `write` throws, rather than one with uninitialised values.
  template <class Result, class F>
  void write_or_empty(Result& result, F const& write)
  {
    try
    {
      write();
    }
    catch (...)
    {
      result = {};
      throw;
    }
  }

  // The bodies of radius_search.
  template <class T, int Dim>
  NEARFIELD_API void search_list(isa where, cell_view<T, Dim> const& cells, count_pairs const& what,
                                 pair_counts& result);
  template <class T, int Dim>
  NEARFIELD_API void search_list(isa where, cell_view<T, Dim> const& cells, to_csr const& what,
                                 csr<T, Dim>& result);
  template <class T, int Dim>
  NEARFIELD_API void search_list(isa where, cell_view<T, Dim> const& cells, to_coo const& what,
                                 coo<T, Dim>& result);
  template <class T, int Dim>
  NEARFIELD_API void search_list(isa where, cell_view<T, Dim> const& cells, to_table const& what,
                                 neighbour_table& result);

  /// Reserves room for n pairs in all columns; false if the system refuses.
  template <class T, int Dim>
  NEARFIELD_API bool reserve(coo<T, Dim>& list, to_coo const& what, std::uint64_t n);
  template <class T, int Dim>
  NEARFIELD_API void resize(coo<T, Dim>& list, to_coo const& what, std::uint64_t n);
  /// As resize(), and gives back address space where far fewer pairs were found than there is room for.
  template <class T, int Dim>
  NEARFIELD_API void resize_to_found(coo<T, Dim>& list, to_coo const& what, std::uint64_t n);
  /// Writes the rows of a job from place `at` of a list on that has room for them, and may write over places
  /// after them. Returns the place after the last pair.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t write_pairs(isa where, search_job<T, Dim> const& job,
                                          to_coo const& what, coo<T, Dim>& list, std::uint64_t at);
  /// Lists of more pairs than this are written past the caches.
  inline constexpr std::uint64_t cached_pairs = std::uint64_t(1) << 20;
  /// As std::copy_n, past the caches.
  NEARFIELD_API void stream_copy(index_type const* from, std::size_t n, index_type* to);

  /// Offsets from the lengths of rows, and room for all columns. Throws nearfield::error beyond max_bytes.
  template <class T, int Dim>
  NEARFIELD_API void size_rows(executor& on, csr<T, Dim>& list, to_csr const& what,
                               std::vector<index_type> const& counts);
  /// Writes a row to its place in a csr<T, Dim>; rows of different points may be written concurrently.
  template <class T, int Dim>
  NEARFIELD_API void put_row(void* list, search_row<T, Dim> const& hits);
  /// Sorts the rows [first, last).
  template <class T, int Dim>
  NEARFIELD_API void sort_rows(csr<T, Dim>& list, std::size_t first, std::size_t last);

  /// Room for n rows. Throws nearfield::error for width 0 and beyond max_bytes.
  NEARFIELD_API void size_rows(neighbour_table& table, to_table const& what, std::uint64_t n);
  /// Writes a row to its place in a neighbour_table; rows of different points may be written concurrently.
  template <class T, int Dim>
  NEARFIELD_API void put_table_row(void* table, search_row<T, Dim> const& hits);
  NEARFIELD_API void find_overflow(neighbour_table& table);
}
