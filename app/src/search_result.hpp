#pragma once

#include "options.hpp"
#include "problem.hpp"

#include <nearfield/io/atomic_file.hpp>
#include <nearfield/search/pairs.hpp>

#include <cstdint>
#include <filesystem>
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

  /// Throws error where the radius and the periods cannot be searched with in the precision asked for.
  void check_lengths(search_options const& options);

  /// Searches; options.backend is not automatic. Throws error for points outside a periodic box, and for
  /// a list larger than it may be, which is then not allocated.
  search_result search_points(named_points const& from, search_options const& options);

  /// Throws error unless a list can be written to a file of that name: .csv or .npy.
  void check_list_format(std::filesystem::path const& path);

  /// Writes a list, block by block, so that memory holds it once.
  ///
  /// CSV has a line with the names of the columns, then rows: `i,j` of a half or a full list,
  /// `i,count`, or `i,count,j0,j1,...` of a table, whose places without a point are empty. NPY is
  /// int64: (pairs, 2); (points,) counts; or, for a table, (points, 1 + width): the count, then the
  /// neighbours, -1 behind them. Throws error where the system refuses.
  void write_list(atomic_file& file, std::filesystem::path const& path, list_kind kind,
                  search_result const& result);
}
