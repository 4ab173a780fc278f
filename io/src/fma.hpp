#pragma once

#include <nearfield/io/point_set.hpp>
#include <nearfield/io/read.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace nearfield::detail::io
{
  /// What the first line of an FMA file says.
  struct fma_header
  {
    std::uint64_t sizeof_real = 8;
    std::uint64_t n_values = 4; ///< values a record
    std::uint64_t dim = 3;
    std::uint64_t n_inputs = 1;
  };

  /// What is wrong with it, empty when nothing is: `found` and `expected` of a message.
  struct complaint
  {
    std::string found;
    std::string expected;
  };
  complaint check_header(fma_header const& header, read_options const& options);

  /// A point set of that many columns, sized for n points, and without a box.
  point_set empty_set(fma_header const& header, std::size_t n);

  /// The column of a record's k-th value.
  std::vector<double>& column_of(point_set& points, std::size_t k);

  /// What a message calls a record's k-th value: y, input 1, output 2.
  std::string name_of(fma_header const& header, std::size_t k);

  /// True where the first bytes are those of a binary file.
  bool is_binary_fma(std::string_view content);

  point_set parse_fma_text(std::string_view content, std::string const& name,
                           read_options const& options);
  point_set parse_fma_binary(std::string_view content, std::string const& name,
                             read_options const& options);
}
