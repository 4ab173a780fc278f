#pragma once

#include "leaves.hpp"

#include <nearfield/tree/leaf_size.hpp>

#include <array>

namespace nearfield::detail
{
  /// The choice for points with these ascending keys (of one set: targets), from a sample of the leaves of each size.
  template <int Dim>
  leaf_size_choice choose_leaf_size(executor& on, leaf_costs const& costs,
                                    std::span<std::uint64_t const> targets,
                                    std::span<std::uint64_t const> sources, bool one_set,
                                    int key_level, std::array<double, Dim> const& period);
}
