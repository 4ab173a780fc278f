#pragma once

#include "leaves.hpp"

#include <nearfield/tree/leaf_size.hpp>

#include <array>

namespace nearfield::detail
{
  /// What leaves of at most `size` points with these ascending keys (of one set: targets) cost: those in the owned
  /// range, which has all keys. What lies beyond it is taken to be as dense as the leaf beside it.
  template <int Dim>
  NEARFIELD_API leaf_costs::choice::candidate
  cost_of_size(executor& on, leaf_costs const& costs, std::span<std::uint64_t const> targets,
               std::span<std::uint64_t const> sources, bool one_set, int key_level,
               std::array<double, Dim> const& period, int size, curve_range const& owned);

  /// The choice for such points, from a sample of the leaves of each size.
  template <int Dim>
  leaf_costs::choice choose_leaf_size(executor& on, leaf_costs const& costs,
                                      std::span<std::uint64_t const> targets,
                                      std::span<std::uint64_t const> sources, bool one_set,
                                      int key_level, std::array<double, Dim> const& period);
}
