#pragma once

#include "column_map.hpp"
#include "input_file.hpp"

#include <cstdint>
#include <vector>

namespace nearfield::detail::io
{
  /// The type of the numbers of an array: f, i or u of `size` bytes, V for what is no number.
  struct array_type
  {
    char kind = 'f';
    std::size_t size = 8;
    bool is_swapped = false; ///< big-endian
  };

  /// Where the values of a column are: those of row i at begin + i stride.
  struct array_column
  {
    array_type type;
    std::uint64_t begin = 0, stride = 0;
  };

  /// The values of a file, row by row or column by column.
  struct binary_table
  {
    std::uint64_t n_rows = 0, begin = 0;
    std::uint64_t row_size = 0; ///< 0: column by column
    std::vector<array_column> columns = {};
  };

  /// The points of a part. Throws nearfield::error, naming the byte, for values that are not finite but in outputs.
  point_set read_rows(input_file const& file, file_part const& part, binary_table const& table,
                      column_map const& map);
}
