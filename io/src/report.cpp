#include <nearfield/io/points.hpp>

#include <algorithm>
#include <cmath>

namespace nearfield
{
  std::optional<std::array<double, 3>> periodic_cell::lengths() const
  {
    double largest = 0;
    for (auto const& v : vectors)
      for (double const component : v) largest = std::max(largest, std::abs(component));
    std::array<double, 3> result{};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 3; ++d)
      {
        double const component = vectors[a][d];
        // other programs compute angles of 90 degrees, and find about 1e-16
        if (a != d && !(std::abs(component) <= 1e-12 * largest)) return std::nullopt;
        if (a == d && !(component >= 0)) return std::nullopt;
        if (a == d) result[a] = periodic && !(*periodic)[a] ? 0 : component;
      }
    return result;
  }
}
