#pragma once

#include <array>

namespace nearfield
{
  /// A cube (a square in 2D): the points x with |x_d - centre_d| <= half_width on every axis.
  template <int Dim>
  struct cube
  {
    static constexpr int dim = Dim; ///< the dimension of space

    std::array<double, Dim> centre{}; ///< length^1
    double half_width = 1;            ///< length^1

    /// The length of an edge, 2 half_width.
    [[nodiscard]] double width() const { return 2 * half_width; }
    /// Its lower end on an axis.
    [[nodiscard]] double lower(int axis) const { return centre[axis] - half_width; }
    /// Its upper end on an axis.
    [[nodiscard]] double upper(int axis) const { return centre[axis] + half_width; }

    friend bool operator==(cube const&, cube const&) = default;
  };
}
