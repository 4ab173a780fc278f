#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <string>
#include <vector>

/// \file
/// Batches: the systems of points from a column.

namespace nearfield
{
  /// The points of each system.
  struct points_of_systems
  {
    std::vector<index_type> offsets; ///< as systems::offsets
    std::vector<index_type>
        order; ///< as systems::order; empty if the points of each system follow each other
  };

  /// From a column that holds the number of the system of each point, in any order. There are n_systems of them, or as
  /// many as the largest number tells.
  ///
  ///     auto const of = nearfield::systems_of(batch);
  ///     nearfield::cell_list const cells{points, {.offsets = of.offsets, .cutoffs = cutoffs, .order = of.order}};
  ///
  /// Throws nearfield::error for a negative number, and one that is not below n_systems, or 2^32 - 1.
  template <std::ranges::contiguous_range Column>
    requires std::integral<std::ranges::range_value_t<Column>>
  [[nodiscard]] points_of_systems systems_of(Column const& column, std::size_t n_systems = 0)
  {
    std::size_t const most = n_systems > 0 ? n_systems : std::numeric_limits<index_type>::max();
    std::size_t const n = std::ranges::size(column);
    auto const* const of = std::ranges::data(column);
    points_of_systems found;
    auto& offsets = found.offsets;
    bool ascends = true;
    for (std::size_t i = 0; i < n; ++i)
    {
      if (std::cmp_less(of[i], 0) || std::cmp_greater_equal(of[i], most))
        throw error("systems_of: point " + std::to_string(i) + " is in system " +
                    std::to_string(of[i]) + "; give numbers from 0 to " + std::to_string(most - 1));
      ascends &= i == 0 || of[i - 1] <= of[i];
      n_systems = std::max(n_systems, static_cast<std::size_t>(of[i]) + 1);
    }
    offsets.assign(n_systems + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++offsets[static_cast<std::size_t>(of[i]) + 1];
    for (std::size_t s = 0; s < n_systems; ++s) offsets[s + 1] += offsets[s];
    if (ascends) return found;
    std::vector<index_type> next(offsets.begin(), offsets.end() - 1);
    found.order.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      found.order[next[static_cast<std::size_t>(of[i])]++] = static_cast<index_type>(i);
    return found;
  }
}
