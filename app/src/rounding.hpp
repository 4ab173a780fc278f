#pragma once

#include <algorithm>
#include <limits>
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

  /// to[i] = T(from[i] - origin); null: only finds the range, of distances from `centre`.
  template <class T>
  value_range round_values(std::span<double const> from, double origin, double centre, T* to);
  extern template value_range round_values(std::span<double const>, double, double, float*);
  extern template value_range round_values(std::span<double const>, double, double, double*);

  /// The least and the greatest of some values.
  struct extent
  {
    double lower = std::numeric_limits<double>::infinity();
    double upper = -std::numeric_limits<double>::infinity();

    void add(extent const& other)
    {
      lower = std::min(lower, other.lower);
      upper = std::max(upper, other.upper);
    }
  };
  extent extent_of(std::span<double const> values);

  /// What is subtracted from the coordinates of an axis before they are rounded to float: 0 near zero, else about their
  /// middle. Coordinates that float represents are then represented after the subtraction too.
  double rounding_origin(extent const& of);
}
