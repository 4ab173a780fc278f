#pragma once

#include "files.hpp"
#include "options.hpp"
#include "problem.hpp"

#include <nearfield/io/points.hpp>
#include <nearfield/search/pairs.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearfield::app
{
  class list_lines;

  /// The result of a search in any precision and dimension, on any back-end.
  struct search_result
  {
    /// of MPI; with more than one, numbers are those of all ranks, and times those of the slowest
    int ranks = 1;
    std::uint64_t points = 0;
    /// entries of the list: each pair counts once in a half list, twice in the others
    std::uint64_t pairs = 0;
    /// neighbours per point in the full sense, for half lists too
    double mean_neighbours = 0;
    std::uint64_t max_neighbours = 0;
    /// points that float does not tell from others, though the file does
    std::uint64_t merged = 0;
    /// size of the list in memory; over ranks, with indices of 64 bits
    std::uint64_t bytes = 0;

    /// Writes the rows of the list or, of one of several ranks, those of the points that it has read. None if no file is
    /// written: the list may be on a GPU, and is gone.
    std::function<void(list_lines&)> write_rows;
    std::optional<index_type> table_width; ///< table
    /// whether a point has more neighbours than the table's width
    bool overflow = false;

    double grid_seconds = 0, count_seconds = 0, fill_seconds = 0;
    /// only with a GPU
    std::optional<double> upload_seconds = std::nullopt, download_seconds = std::nullopt;
    /// of the process; on a GPU, of its columns, grid, scratch memory and list
    std::uint64_t peak_memory = 0;
  };

  /// Fills the numbers that follow from `points`, `max_neighbours` and the pairs, counted both ways; the bytes are
  /// those of a list whose indices take `of_index` bytes, in `dim` dimensions.
  void set_sizes(search_options const& options, std::uint64_t total, int dim, std::size_t of_index,
                 search_result& result);

  /// How the library searches points from which `origin` is subtracted, on one rank or several.
  template <class T, int Dim, class Grid>
  Grid grid_options(search_options const& options, std::span<double const> origin)
  {
    Grid grid;
    grid.cells_per_cutoff.fill(options.cells_per_cutoff);
    for (std::size_t a = 0; a < options.periodic.size(); ++a)
      grid.period[a] = static_cast<T>(options.periodic[a]);
    grid.cell = box_of<Dim>(options.cell, origin);
    return grid;
  }

  /// Throws nearfield::error if the list takes more than `limit` bytes.
  void check_size(search_options const& options, search_result const& result, std::uint64_t limit);

  /// Throws nearfield::error if the radius, the periods or the box are out of range in the precision asked for.
  void check_lengths(search_options const& options);

  /// Throws nearfield::error unless the extension is .csv or .npy.
  void check_list_format(std::filesystem::path const& path);

  /// Writes a list block by block, without a second copy in memory. One of several ranks writes its rows, and the first
  /// of them the header, so that together they write the file, with pairs in lexicographic order.
  ///
  /// CSV has a header line, then rows: `i,j` for half and full lists, and behind them `sx,sy[,sz]` where the image of j
  /// is asked for; `i,count`, or `i,count,j0,j1,...` for a table, padded with empty fields. NPY is int64 of shape
  /// (pairs, 2), or (pairs, 2 + dim); (points,) for counts; or (points, 1 + width) for a table: the count, then the
  /// neighbours, padded with -1.
  void write_list(byte_sink const& put, search_options const& options, int dim,
                  search_result const& result, bool has_header);
}
