#pragma once

#include "backends.hpp"
#include "p2p/guarded.hpp"
#include "points.hpp"
#include "reference.hpp"
#include "sizes.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

/// \file
/// Whether an interaction is right over a range of distances.

namespace nearfield::test
{
  struct range
  {
    double from, to;
  };

  /// Distances of either sign in the range: its ends, the powers of ten, and others with random
  /// digits up to n.
  template <class T>
  std::vector<T> distances(range within, std::size_t n)
  {
    double const from =
        std::log10(std::max(within.from, static_cast<double>(std::numeric_limits<T>::min())));
    double const to = std::log10(within.to);
    std::vector<T> result{static_cast<T>(within.from), static_cast<T>(within.to)};
    for (int power = static_cast<int>(std::ceil(from)); power <= to; ++power)
      result.push_back(static_cast<T>(std::pow(10., power)));
    random_numbers random(7);
    while (result.size() < n)
      result.push_back(static_cast<T>(std::pow(10., random.uniform(from, to))));
    for (T& r : result) r = random.uniform() < 0.5 ? -r : r;
    return result;
  }

  // Pairs one at a time, so that no larger term hides the error of a smaller one: every distance is
  // a target of one source, and every one a source of one target, in each lane of a pack. Along
  // each axis, and where the first entry of a dipole tensor is zero.
  template <class T, class K>
  void expect_right_pairs(K const& k, range within)
  {
    std::size_t const n = 2000;
    std::vector<T> const r = distances<T>(within, n);
    guarded<T, K::dim> const origin(1);
    guarded<T, K::n_in> const ones(n, T(1)), one(1, T(1));
    for (int direction = 0; direction <= K::dim; ++direction)
    {
      guarded<T, K::dim> x(n);
      for (std::size_t i = 0; i < n; ++i)
        if (direction < K::dim)
          x.column(direction)[i] = r[i];
        else
        {
          x.column(0)[i] = r[i] * T(std::sqrt(1. / 3));
          x.column(1)[i] = r[i] * T(std::sqrt(2. / 3));
        }
      auto expected = reference(k, x.view(), origin.view(), one.view(), all_pairs);
      for (std::size_t i = 0; i < n; ++i)
      {
        long_vector<K::dim> at;
        for (int d = 0; d < K::dim; ++d) at[d] = static_cast<long double>(x.view()[d][i]);
        auto const size = size_of_term<T>(k, at);
        for (int o = 0; o < K::n_out; ++o) expected.scale[o][i] = size[o];
      }
      for (tested_backend const& backend : tested_backends())
      {
        guarded<T, K::n_out> targets(n), sources(n), unused(1);
        backend.run(
            [&](auto where)
            {
              p2p_outer(where, k, x.view(), origin.view(), one.view(), targets.view());
              p2p_outer_mutual(where, k, origin.view(), x.view(), one.view(), ones.view(),
                               unused.view(), sources.view());
            });
        EXPECT_LE(error_of(targets.view(), expected), tolerance<T>) << backend;
        EXPECT_LE(error_of(sources.view(), expected), tolerance<T>) << backend;
      }
    }
  }
}
