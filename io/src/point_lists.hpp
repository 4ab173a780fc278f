#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/io/points.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

/// \file
/// Text files that go with the points of another file. Blank lines and lines that begin with # do not count, and gzip may
/// have compressed the file. Throw nearfield::error as read_points() does.

namespace nearfield::detail
{
  /// The points that this process has: [first, first + n) of all that the lists are for.
  struct range_of_points
  {
    std::uint64_t n_all = 0, first = 0, n = n_all;
  };

  /// Gives the points the types of a file with a word for each, line by line; names are those of all points.
  NEARFIELD_API void read_types(std::filesystem::path const& path, range_of_points const& range,
                                point_set& points);

  /// Pairs of points in rows: (first + i, others[offsets[i]]) ...
  struct pair_rows
  {
    std::vector<std::uint64_t> offsets = {}; ///< one more than rows
    std::vector<std::uint64_t> others = {};
  };

  /// The pairs (i, j), with i of the range, of a file with two indices a line, between blanks, commas or tabs, from 0 to
  /// n_all - 1. A first line without numbers, such as i,j, is a header.
  NEARFIELD_API pair_rows read_pairs(std::filesystem::path const& path,
                                     range_of_points const& range);
}
