#pragma once

#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

/// \file
/// The size of a term as docs/conventions.md has it, which counts what rounding r may change.

namespace nearfield::test
{
  /// max(|K_oi|, sum_d |r_d dK_oi/dr_d|)
  template <class K>
  auto sizes_of_entries(K const& k, long_vector<K::dim> const& r)
  {
    constexpr long double step = 1e-6L;
    auto const map = formula<K>::at(k, r);
    auto size = map;
    for (auto& row : size) row.fill(0);
    for (int d = 0; d < K::dim; ++d)
    {
      auto moved = r;
      moved[d] *= 1 + step;
      auto const other = formula<K>::at(k, moved);
      for (int o = 0; o < K::n_out; ++o)
        for (int c = 0; c < K::n_in; ++c) size[o][c] += std::abs(other[o][c] - map[o][c]) / step;
    }
    for (int o = 0; o < K::n_out; ++o)
      for (int c = 0; c < K::n_in; ++c) size[o][c] = std::max(size[o][c], std::abs(map[o][c]));
    return size;
  }

  /// The same for one pair with ones as inputs, and no less than what underflow may cost.
  template <class T, class K>
  std::array<long double, K::n_out> size_of_term(K const& k, long_vector<K::dim> const& r)
  {
    constexpr long double least = std::numeric_limits<T>::min() / tolerance<T>;
    auto const entries = sizes_of_entries(k, r);
    std::array<long double, K::n_out> size{};
    for (int o = 0; o < K::n_out; ++o)
      for (int c = 0; c < K::n_in; ++c) size[o] += std::max(entries[o][c], least);
    return size;
  }

  /// reference() with these sizes as its scale, for entries that cancel near a line through the source, as those of a
  /// Hessian do. Parameters of points: the plain scale.
  template <class K, class X, class Y, class Q, class Meets>
  auto reference_of_sizes(K const& k, X const& targets, Y const& sources, Q const& q, Meets&& meets)
  {
    auto sums = reference(k, targets, sources, q, meets);
    if constexpr (detail::parameters_of<K> == 0)
      for (std::size_t i = 0; i < targets.size(); ++i)
      {
        for (int o = 0; o < K::n_out; ++o) sums.scale[o][i] = 0;
        for (std::size_t j = 0; j < sources.size(); ++j)
        {
          long_vector<K::dim> r;
          for (int d = 0; d < K::dim; ++d)
            r[d] =
                static_cast<long double>(targets[d][i]) - static_cast<long double>(sources[d][j]);
          if (!meets(i, j) || (formula<K>::singular(k) && norm(r) == 0)) continue;
          auto const size = sizes_of_entries(k, r);
          for (int o = 0; o < K::n_out; ++o)
            for (int c = 0; c < K::n_in; ++c)
              sums.scale[o][i] += size[o][c] * std::abs(static_cast<long double>(q[c][j]));
        }
      }
    return sums;
  }
}
