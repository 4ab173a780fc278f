#pragma once

#include <array>

namespace nearfield
{
  /// A cube (a square in 2D): the points x with |x_d - centre_d| <= half_width on every axis.
  template <int Dim>
  struct cube
  {
    static constexpr int dim = Dim;

    std::array<double, Dim> centre{};
    double half_width = 1;

    [[nodiscard]] double width() const { return 2 * half_width; }
    [[nodiscard]] double lower(int axis) const { return centre[axis] - half_width; }
    [[nodiscard]] double upper(int axis) const { return centre[axis] + half_width; }

    friend bool operator==(cube const&, cube const&) = default;
  };
}
