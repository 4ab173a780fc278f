#pragma once

#include <array>

namespace nearfield
{
  /// A cube (a square in 2D): the points x with |x_d - centre_d| <= half_width on every axis.
  template <int Dim>
  struct cube
  {
    static constexpr int dim = Dim; ///< of space

    std::array<double, Dim> centre{}; ///< length^1
    double half_width = 1;            ///< length^1

    /// An edge, 2 half_width.
    [[nodiscard]] double width() const { return 2 * half_width; }
    /// Where it begins on an axis.
    [[nodiscard]] double lower(int axis) const { return centre[axis] - half_width; }
    /// Where it ends on an axis.
    [[nodiscard]] double upper(int axis) const { return centre[axis] + half_width; }

    friend bool operator==(cube const&, cube const&) = default;
  };
}
