#include "rounding.hpp"

#include <cmath>
#include <cstddef>

namespace nearfield::app
{
  template <class T>
  value_range round_values(std::span<double const> from, double centre, T* to)
  {
    // several results at once, so that the loop vectorises
    constexpr std::size_t lanes = 8;
    double distance[lanes] = {}, rounded_distance[lanes] = {}, not_finite[lanes] = {};
    auto const take = [&](std::size_t i, std::size_t lane)
    {
      T const rounded = static_cast<T>(from[i]);
      if (to) to[i] = rounded;
      auto const now = static_cast<double>(rounded);
      distance[lane] = std::max(distance[lane], std::abs(from[i] - centre));
      rounded_distance[lane] = std::max(rounded_distance[lane], std::abs(now - centre));
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

  template value_range round_values(std::span<double const>, double, float*);
  template value_range round_values(std::span<double const>, double, double*);
}
