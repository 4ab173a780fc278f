#pragma once

#include "problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// \file
/// Points that the file tells apart and float does not: of a singular interaction, their pairs count for nothing.

namespace nearfield::app
{
  /// The number of points that rounding brings to the place of an earlier one, the first of them, `second`, and that
  /// earlier one.
  struct merged_points
  {
    std::uint64_t count = 0, first = 0, second = 0;

    void add(merged_points const& other);
  };

  /// Whether float represents all coordinates minus the origin.
  bool is_exact_in_float(named_points const& from, std::span<double const> origin);

  /// A point before and after rounding, as hashes, and its number.
  struct point_key
  {
    std::uint64_t rounded, exact, number;
  };

  /// Appends those keys of points, which `first` counts on from, whose `rounded` has the part-th of `parts` ranges.
  void append_keys(named_points const& from, std::span<double const> origin, std::uint64_t first,
                   std::uint64_t part, std::uint64_t parts, std::vector<point_key>& to);

  /// Sorts the keys, and finds points with one place and different coordinates.
  merged_points find_merged(std::span<point_key> keys);

  /// Says on stderr that there are some, if there are. Sources are numbered after all `n_targets`.
  void report_merged(merged_points const& found, named_points const& targets,
                     named_points const* sources, std::uint64_t n_targets);

  /// Finds and reports those of one or two files. Returns how many there are.
  std::uint64_t report_merged(named_points const& targets, named_points const* sources,
                              std::span<double const> origin);
}
