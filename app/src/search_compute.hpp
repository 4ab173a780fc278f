#pragma once

#include "problem.hpp"
#include "search_options.hpp"

#include <nearfield/search/pairs.hpp>

#include <cstdint>
#include <optional>

namespace nearfield::app
{
  /// What a search found, whatever the precision, the dimension and the back-end.
  struct search_result
  {
    std::uint64_t points = 0;
    /// of the list: a half list has every pair once, the others twice
    std::uint64_t pairs = 0;
    /// of a point, both ways whatever the list is
    double mean_neighbours = 0;
    std::uint64_t max_neighbours = 0;
    /// of the list, in memory
    std::uint64_t bytes = 0;

    /// one of them, as the list asks; on a GPU they stay there where no file is written
    page_array<index_type> i, j;           ///< half: pair p is (i[p], j[p])
    page_array<std::uint64_t> offsets;     ///< full: row i is columns[offsets[i]] ...
    page_array<index_type> columns;        ///< full
    page_array<index_type> counts;         ///< count
    neighbour_table table;                 ///< table
    std::optional<index_type> table_width; ///< table
    /// a row of the table has more points than places
    bool overflow = false;

    double grid_seconds = 0, count_seconds = 0, fill_seconds = 0;
    /// of a GPU
    std::optional<double> upload_seconds = std::nullopt, download_seconds = std::nullopt;
    /// of the process, or of the GPU: columns, grid, scratch and list
    std::uint64_t peak_memory = 0;
  };

  /// Throws error where the radius and the periods cannot be searched with in precision T.
  template <class T>
  void check_lengths(search_options const& options);

  /// Searches in precision T; options.backend is not automatic. Throws error for points outside a
  /// periodic box, and for a list larger than it may be, which is then not allocated.
  template <class T>
  search_result search_points(named_points const& from, search_options const& options);

  extern template void check_lengths<float>(search_options const&);
  extern template void check_lengths<double>(search_options const&);
  extern template search_result search_points<float>(named_points const&, search_options const&);
  extern template search_result search_points<double>(named_points const&, search_options const&);
}
