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

namespace nearfield::detail::io
{
  /// Gives the points the types of a file with a word for each, line by line.
  NEARFIELD_API void read_types(std::filesystem::path const& path, point_set& points);

  /// Pairs of points in rows: (i, others[offsets[i]]) ...
  struct pair_rows
  {
    std::vector<std::uint64_t> offsets = {}; ///< one more than points
    std::vector<index_type> others = {};
  };

  /// The pairs of a file with two indices a line, between blanks, commas or tabs, from 0 to n_points - 1. A first line
  /// without numbers, such as i,j, is a header.
  NEARFIELD_API pair_rows read_pairs(std::filesystem::path const& path, std::size_t n_points);
}
