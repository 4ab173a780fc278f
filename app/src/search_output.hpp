#pragma once

#include "search_compute.hpp"

#include <nearfield/io/atomic_file.hpp>

#include <filesystem>

namespace nearfield::app
{
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
