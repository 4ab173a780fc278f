#pragma once

#include <nearfield/io/points.hpp>

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

  /// A point set with the header's columns, of n points, without a box.
  point_set empty_set(fma_header const& header, std::size_t n);

  /// The column of the k-th value of a record.
  std::vector<double>& column_of(point_set& points, std::size_t k);

  /// The name of the k-th value of a record in messages, such as y, input 1 or output 2.
  std::string name_of(fma_header const& header, std::size_t k);

  /// What became of the columns of a file with this header.
  void describe(fma_header const& header, std::string const& format, file_report* report);

  /// Whether the first bytes are those of a binary file.
  bool is_binary_fma(std::string_view content);

  point_set parse_fma_text(std::string_view content, std::string const& name,
                           read_options const& options, file_report* report);
  point_set parse_fma_binary(std::string_view content, std::string const& name,
                             read_options const& options, file_report* report);
}
