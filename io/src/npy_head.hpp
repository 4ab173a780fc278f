#pragma once

#include "binary_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// A field of a record: `count` values of one type.
  struct array_field
  {
    std::string name; ///< empty: padding
    array_type type = {};
    std::size_t count = 1, offset = 0;
  };

  /// What a file says of its array, and where the values begin.
  struct array_head
  {
    std::optional<array_type> type;  ///< of an array of numbers
    std::vector<array_field> fields; ///< of one of records
    std::size_t record_size = 0;
    std::optional<bool> is_column_major;
    std::optional<std::vector<std::uint64_t>> shape;
    std::uint64_t begin = 0;

    [[nodiscard]] bool is_of_records() const { return !fields.empty(); }
    [[nodiscard]] std::uint64_t rows() const { return (*shape)[0]; }
    [[nodiscard]] std::uint64_t columns() const { return is_of_records() ? 1 : (*shape)[1]; }
  };

  /// The first bytes of a file, which say how long its head is.
  inline constexpr std::size_t npy_start = 12;

  /// The length of the head of a file of `size` bytes that begins with `start`, at least npy_start bytes of it or all.
  std::uint64_t length_of_head(std::string_view start, std::uint64_t size, std::string const& name);

  /// `content`: the file, or at least its head. Throws nearfield::error, naming the byte.
  array_head read_array_head(std::string_view content, std::uint64_t file_size,
                             std::string const& name);
}
