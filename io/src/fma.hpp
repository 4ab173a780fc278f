#pragma once

#include "column_map.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace nearfield::detail::io
{
  /// The first line of an FMA file.
  struct fma_header
  {
    std::uint64_t sizeof_real = 8;
    std::uint64_t n_values = 4; ///< per record
    std::uint64_t dim = 3;
    std::uint64_t n_inputs = 1;
  };

  /// What is wrong with a header: `found` and `expected` of a message, both empty if it is valid.
  struct complaint
  {
    std::string found;
    std::string expected;
  };
  complaint check_header(fma_header const& header, read_options const& options);

  /// Its columns, with names for messages, such as y, input 1 or output 2.
  column_map map_of(fma_header const& header);

  /// Whether the first bytes are those of a binary file.
  bool is_binary_fma(std::string_view content);
}
