#pragma once

#include "points.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/cell_grid.hpp>
#include <nearfield/core/soa.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

/// \file
/// Pairs closer than a cutoff by the definition, one after the other.

// The rounding of every operation is part of the definition.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

namespace nearfield::test
{
  template <class T, int Dim>
  struct geometry_of_pair
  {
    T r2;
    std::array<T, Dim> d;

    friend bool operator==(geometry_of_pair const&, geometry_of_pair const&) = default;
  };

  template <class T, int Dim>
  geometry_of_pair<T, Dim> measure(std::array<T, Dim> const& x, std::array<T, Dim> const& y,
                                   std::array<T, Dim> const& period)
  {
    geometry_of_pair<T, Dim> g{};
    for (int a = 0; a < Dim; ++a)
    {
      // volatile: g++ would contract in spite of what the language says
      T volatile d = x[a] - y[a];
      if (period[a] > 0)
      {
        T const volatile step = period[a] * std::round(d / period[a]);
        d = d - step;
      }
      T const volatile square = d * d;
      g.d[a] = d;
      T const volatile sum = g.r2 + square;
      g.r2 = a == 0 ? T(square) : T(sum);
    }
    return g;
  }

  /// (i, j) -> what is between them, both ways; i != j where there is one set.
  template <class T, int Dim>
  using pair_map = std::map<std::pair<index_type, index_type>, geometry_of_pair<T, Dim>>;

  template <class T, int Dim>
  pair_map<T, Dim> all_pairs(points<T, Dim> const& x, points<T, Dim> const& y, bool one_set,
                             double cutoff, std::array<T, Dim> const& period)
  {
    T const radius = static_cast<T>(cutoff);
    T const volatile limit = radius * radius;
    pair_map<T, Dim> found;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < y.size(); ++j)
      {
        if (one_set && i == j) continue;
        auto const g = measure<T, Dim>(x[i], y[j], period);
        if (g.r2 < limit) found[{static_cast<index_type>(i), static_cast<index_type>(j)}] = g;
      }
    return found;
  }
}
