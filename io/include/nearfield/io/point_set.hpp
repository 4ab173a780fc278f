#pragma once

#include <nearfield/core/api.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nearfield
{
  /// The cube (in 2D the square) that a file names: the points lie within `half_width` of `centre`
  /// along each axis. The width that FMA files store is this half width.
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
    /// as many as inputs; empty: q, or q1 q2 ...
    std::vector<std::string> input_names = {};
    /// as many as outputs; empty: phi, or phi1 phi2 ...
    std::vector<std::string> output_names = {};
    /// where the file has one
    std::optional<bounding_box> box = {};

    /// The number of points.
    [[nodiscard]] std::size_t size() const { return positions.empty() ? 0 : positions[0].size(); }

    friend bool operator==(point_set const&, point_set const&) = default;
  };

  /// Throws error unless `points` has dim = 2 or 3 positions, columns of one length, finite positions
  /// and inputs, names for all inputs (outputs) or for none, and a box, where there is one, of dim
  /// finite coordinates and a positive half width.
  NEARFIELD_API void check(point_set const& points);

  /// The names that a file's header line gives the columns: x y [z], the inputs, the outputs, with
  /// q, q1, q2 ... and phi, phi1, phi2 ... for those that have none.
  NEARFIELD_API std::vector<std::string> column_names(point_set const& points);
}
