#pragma once

#include <nearfield/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// NumPy .npy files of integers, written sequentially: the header, then the values row by row.
///
///     nearfield::atomic_file file{"pairs.npy"};
///     std::string bytes = nearfield::format_npy_header({n, 2});
///     for (std::size_t p = 0; p < n; ++p)
///     {
///       nearfield::append_npy(bytes, i[p]);
///       nearfield::append_npy(bytes, j[p]);
///     }
///     file.write(bytes);
///     file.commit();

namespace nearfield
{
  /// The header of an array of int64, little-endian, row-major, of the given shape. Version 1.0 of the format,
  /// padded so that the values start at a multiple of 64 bytes. Throws nearfield::error for more than 32
  /// dimensions, NumPy's limit. Source of the format: numpy.lib.format.
  NEARFIELD_API std::string format_npy_header(std::vector<std::uint64_t> const& shape);

  /// Appends one value.
  NEARFIELD_API void append_npy(std::string& bytes, std::int64_t value);
}
