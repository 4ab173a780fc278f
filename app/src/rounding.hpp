#pragma once

#include <algorithm>
#include <span>

namespace nearfield::app
{
  /// What a loop over values finds, for parts of a column to be put together.
  struct value_range
  {
    bool is_finite = true; ///< after rounding, all of them
    /// the largest distances from a centre, before and after
    double distance = 0, rounded_distance = 0;

    void add(value_range const& other)
    {
      is_finite = is_finite && other.is_finite;
      distance = std::max(distance, other.distance);
      rounded_distance = std::max(rounded_distance, other.rounded_distance);
    }
  };

  /// to[i] = T(from[i]); null: only finds the range.
  template <class T>
  value_range round_values(std::span<double const> from, double centre, T* to);
  extern template value_range round_values(std::span<double const>, double, float*);
  extern template value_range round_values(std::span<double const>, double, double*);
}
