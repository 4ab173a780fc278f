#pragma once

#include <nearfield/search/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// \file
/// What all outputs of a search need.

namespace nearfield::detail
{
  template <class Options>
  row_content content_of(Options const& what)
  {
    return what.displacements ? row_content::displacements
           : what.distances   ? row_content::distances
                              : row_content::indices;
  }

  /// The bytes of r2, x_i - x_j and the image of a pair.
  template <class T, int Dim, class Options>
  std::uint64_t geometry_bytes(Options const& what)
  {
    return (what.distances ? sizeof(T) : 0) + (what.displacements ? Dim * sizeof(T) : 0) +
           (what.images == image_columns::counters ? Dim * sizeof(std::int32_t) : 0) +
           (what.images == image_columns::packed ? sizeof(std::uint32_t) : 0);
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

  /// Sorts the rows [first, last).
  template <class T, int Dim>
  NEARFIELD_API void sort_rows(csr<T, Dim>& list, std::size_t first, std::size_t last);
}
