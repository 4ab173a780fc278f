#pragma once

#include <nearfield/io/points.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace nearfield::detail::io
{
  /// Throws nearfield::error unless the points pass check() and their values are within the range of the
  /// precision: converting a double beyond the largest float is undefined behaviour.
  void check_writable(point_set const& points, write_options const& options);

  /// Whether what is formatted begins the file.
  bool has_header(write_options const& options);

  /// The number of points of the file.
  std::uint64_t n_points(point_set const& points, write_options const& options);

  /// All columns in the order of column_names().
  std::vector<double const*> all_columns(point_set const& points);

  /// Appends the bytes of a number.
  template <class T>
  void append_bytes(std::string& out, T value)
  {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }

  /// In bytes.
  constexpr std::size_t size_of(write_options::precision_type precision)
  {
    return precision == write_options::f32 ? sizeof(float) : sizeof(double);
  }

  /// The values of n points, of these columns each, null: zeros, as decimals or as bytes.
  void append_rows(std::string& out, std::size_t n, std::vector<double const*> const& columns,
                   char separator, write_options::precision_type precision);
  void append_values(std::string& out, std::size_t n, std::vector<double const*> const& columns,
                     write_options::precision_type precision);

  /// A column of numbers, or the three of a vector, in files for viewers. In 2D the third is null.
  struct field
  {
    std::string name;
    std::vector<double const*> columns;
  };

  /// The positions, `pos`, and the other columns; vx vy [vz], gx gy [gz] and ax ay [az] one after another are a vector.
  std::vector<field> fields_of(point_set const& points);
}
