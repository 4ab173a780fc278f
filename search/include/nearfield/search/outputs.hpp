#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/search/rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
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

  template <class Options>
  bool has_images(Options const& what)
  {
    return what.images != image_columns::none;
  }

  /// The bytes of r2, x_i - x_j and the image of a pair.
  template <class T, int Dim, class Options>
  std::uint64_t geometry_bytes(Options const& what)
  {
    std::uint64_t const image = what.images == image_columns::counters ? Dim
                                : what.images == image_columns::packed ? 1
                                                                       : 0;
    return (what.distances ? sizeof(T) : 0) + (what.displacements ? Dim * sizeof(T) : 0) +
           image * sizeof(std::int32_t);
  }

  /// S in 10 bits an axis. Throws nearfield::error if they are too few.
  template <std::size_t Dim>
  std::uint32_t packed_image(std::array<std::int32_t, Dim> const& image)
  {
    std::uint32_t packed = 0;
    for (std::size_t a = 0; a < Dim; ++a)
    {
      std::uint32_t const above = static_cast<std::uint32_t>(image[a]) + 512u;
      if (above >= 1024u)
        throw error("radius_search: a pair is " + std::to_string(image[a]) +
                    " vectors of the box apart along axis " + std::to_string(a) +
                    ", and packed images hold -512 to 511; ask for image_columns::counters");
      packed |= above << 10 * a;
    }
    return packed;
  }

  /// Throws nearfield::error if `bytes`, the size of a result of n_pairs pairs, exceeds max_bytes.
  NEARFIELD_API void check_bytes(std::uint64_t n_pairs, std::uint64_t bytes,
                                 std::uint64_t max_bytes);
  /// Throws nearfield::error for a table of width 0, and for one that would exceed max_bytes.
  NEARFIELD_API void check_table_size(to_table const& what, std::uint64_t n);

  /// The size of the columns that are given, 0 for none. Throws nearfield::error if they differ or are null, for offsets of
  /// other than n_rows rows, and for a sorted half list.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t check_arrays(to_arrays<T, Dim> const& what, std::size_t n_rows);

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
