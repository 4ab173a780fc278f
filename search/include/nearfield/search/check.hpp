#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/traversal.hpp>

#include <cstdint>
#include <string>

/// \file
/// What all outputs of a radius search share.

namespace nearfield::detail
{
  inline isa isa_of(scalar_backend)
  {
    return isa::scalar;
  }
  inline isa isa_of(simd_backend backend)
  {
    return backend.which;
  }

  /// Converts a generic row function to that for the points of a view.
  template <class T, int Dim, class Row>
  row_function<T, Dim> row_of(cell_view<T, Dim> const&, Row row)
  {
    return row;
  }

  /// An empty list for the points of a view.
  template <template <class, int> class List, class T, int Dim>
  List<T, Dim> list_for(cell_view<T, Dim> const&)
  {
    return {};
  }

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

  /// Throws nearfield::error for a half list of two sets.
  template <class T, int Dim>
  void check_pairs(cell_view<T, Dim> const& cells, pairs which)
  {
    if (which == pairs::half && !cells.one_set)
      throw error("radius_search: two sets have no half list; ask for pairs::full");
  }

  /// Throws nearfield::error if a result of so many bytes would exceed max_bytes.
  inline void check_bytes(std::uint64_t n_pairs, std::uint64_t bytes, std::uint64_t max_bytes)
  {
    if (bytes > max_bytes)
      throw error("radius_search: the result has " + std::to_string(n_pairs) + " pairs in " +
                      std::to_string(bytes) + " bytes, more than max_bytes, " +
                      std::to_string(max_bytes) + "; raise it, or use a smaller cutoff",
                  error_kind::out_of_memory);
  }

  /// Throws nearfield::error for a table of width 0, and for one that would exceed max_bytes.
  inline void check_table(to_table const& what, std::uint64_t n)
  {
    if (what.width == 0) throw error("radius_search: the width of the table is 0; give 1 or more");
    std::uint64_t const row = sizeof(index_type) * (what.width + std::uint64_t(1));
    if (n > what.max_bytes / row)
      throw error("radius_search: the table of " + std::to_string(n) + " rows and width " +
                      std::to_string(what.width) + " takes " + std::to_string(n) + " x " +
                      std::to_string(row) + " bytes, max_bytes is " +
                      std::to_string(what.max_bytes) + "; raise it, or use a smaller width",
                  error_kind::out_of_memory);
  }
}
