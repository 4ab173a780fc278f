#pragma once

#include <nearfield/io/points.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace nearfield::detail::io
{
  /// The meaning of the fields of a row: of each kind, which they are.
  struct column_map
  {
    std::vector<std::string> names;
    std::vector<std::size_t> positions, velocities, masses, inputs, outputs;
    std::vector<std::string> input_names, output_names;
  };

  /// `fail(found, expected)` throws.
  column_map map_of(std::vector<std::string> const& names, int dim,
                    std::function<void(std::string const&, std::string const&)> const& fail);

  /// The names of n columns of a file that has none.
  std::vector<std::string> usual_names(std::size_t n, int dim);

  /// A point set with these columns, without points.
  point_set empty_set(column_map const& map);
}
