#pragma once

#include <nearfield/core/api.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nearfield
{
  /// The cube (in 2D the square) given in a file: the points lie within `half_width` of `centre` along each
  /// axis. FMA files store this half width.
  struct bounding_box
  {
    std::vector<double> centre = {}; ///< dim coordinates, length^1
    double half_width = 0;           ///< length^1, positive

    friend bool operator==(bounding_box const&, bounding_box const&) = default;
  };

  /// The points of a file, one column of `size()` values per coordinate, input and output, in the
  /// order of the file.
  struct point_set
  {
    /// 2 or 3
    int dim = 3;
    /// dim columns
    std::vector<std::vector<double>> positions = {};
    /// charges, masses ...: one column each, or none
    std::vector<std::vector<double>> inputs = {};
    /// potentials, forces ...: one column each, or none
    std::vector<std::vector<double>> outputs = {};
    /// one name per column of inputs; empty: q, or q1 q2 ...
    std::vector<std::string> input_names = {};
    /// one name per column of outputs; empty: phi, or phi1 phi2 ...
    std::vector<std::string> output_names = {};
    /// the box, if the file has one
    std::optional<bounding_box> box = {};

    /// The number of points.
    [[nodiscard]] std::size_t size() const { return positions.empty() ? 0 : positions[0].size(); }

    friend bool operator==(point_set const&, point_set const&) = default;
  };

  /// Throws nearfield::error unless `points` has dim = 2 or 3 columns of positions, columns of one length,
  /// finite positions and inputs, names for all or none of the inputs, the same for outputs, and, if it has a
  /// box, dim finite coordinates of its centre and a positive finite half width.
  NEARFIELD_API void check(point_set const& points);

  /// The column names for a file's header line: x y [z], then inputs, then outputs. Unnamed inputs are q, or
  /// q1 q2 ..., and unnamed outputs phi, or phi1 phi2 ....
  NEARFIELD_API std::vector<std::string> column_names(point_set const& points);
}
