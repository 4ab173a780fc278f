#pragma once

#include <nearfield/io/points.hpp>

#include <string>
#include <vector>

namespace nearfield::detail::io
{
  /// Throws nearfield::error unless the points pass check() and their values are within the range of the
  /// precision: converting a double beyond the largest float is undefined behaviour.
  void check_writable(point_set const& points, write_options const& options);

  /// Whether what is formatted begins the file.
  bool has_header(write_options const& options);

  /// All columns in the order of column_names().
  std::vector<double const*> all_columns(point_set const& points);

  /// A column of numbers, or the dim columns of a vector, in files for viewers.
  struct field
  {
    std::string name;
    std::vector<double const*> columns;

    /// A vector has three, in 2D too; the third is 0 there.
    [[nodiscard]] int n_components() const { return columns.size() == 1 ? 1 : 3; }
    /// Component c at point i.
    [[nodiscard]] double operator()(std::size_t i, int c) const
    {
      auto const k = static_cast<std::size_t>(c);
      return k < columns.size() ? columns[k][i] : 0;
    }
  };

  /// All columns but the positions; vx vy [vz], gx gy [gz] and ax ay [az] one after another are a vector.
  std::vector<field> fields_of(point_set const& points);
}
