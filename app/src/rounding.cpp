#include "rounding.hpp"

#include <cmath>
#include <cstddef>

namespace nearfield::app
{
  // several results at once, so that the loops vectorise
  constexpr std::size_t lanes = 8;

  template <class T>
  value_range round_values(std::span<double const> from, double origin, double centre, T* to)
  {
    double const rounded_centre = centre - origin;
    double distance[lanes] = {}, rounded_distance[lanes] = {}, not_finite[lanes] = {};
    auto const take = [&](std::size_t i, std::size_t lane)
    {
      T const rounded = static_cast<T>(from[i] - origin);
      if (to) to[i] = rounded;
      auto const now = static_cast<double>(rounded);
      distance[lane] = std::max(distance[lane], std::abs(from[i] - centre));
      rounded_distance[lane] = std::max(rounded_distance[lane], std::abs(now - rounded_centre));
      not_finite[lane] += now - now; // NaN for a value that is not finite
    };
    std::size_t const whole = from.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) take(i + lane, lane);
    for (std::size_t i = whole; i < from.size(); ++i) take(i, i - whole);

    value_range result;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      result.add({not_finite[lane] == 0, distance[lane], rounded_distance[lane]});
    return result;
  }

  template value_range round_values(std::span<double const>, double, double, float*);
  template value_range round_values(std::span<double const>, double, double, double*);

  extent extent_of(std::span<double const> values)
  {
    extent found[lanes];
    std::size_t const whole = values.size() / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        found[lane].add({values[i + lane], values[i + lane]});
    for (std::size_t i = whole; i < values.size(); ++i) found[0].add({values[i], values[i]});
    extent result;
    for (extent const& each : found) result.add(each);
    return result;
  }

  double rounding_origin(extent const& of)
  {
    double const middle = of.lower / 2 + of.upper / 2, half = of.upper / 2 - of.lower / 2;
    // Closer to zero, a subtraction would take digits from coordinates that are much smaller than others, and gain at
    // most two bits. The comparison is false for no points too.
    if (!(std::abs(middle) > 4 * half)) return 0;
    if (half == 0) return middle;
    double const step = std::exp2(std::ceil(std::log2(half)));
    return std::round(middle / step) * step;
  }
}
