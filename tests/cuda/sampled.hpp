#pragma once

#include "p2p/p2p_cases.hpp"
#include "points.hpp"
#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  /// `count` numbers from 0 ... n - 1, including the first and the last; some may repeat.
  inline std::vector<std::size_t> sample_of(std::size_t n, std::size_t count)
  {
    std::vector<std::size_t> sample{0, n - 1};
    random_numbers random(11);
    while (sample.size() < count) sample.push_back(random.below(n));
    return sample;
  }

  template <class T, int N>
  guarded<std::remove_const_t<T>, N> some_of(soa<T, N> const& all,
                                             std::vector<std::size_t> const& which)
  {
    guarded<std::remove_const_t<T>, N> result(which.size());
    for (int c = 0; c < N; ++c)
      for (std::size_t s = 0; s < which.size(); ++s) result.column(c)[s] = all[c][which[s]];
    return result;
  }

  /// The error at some targets of a large set; `got` holds the outputs of all targets, added to `initial`.
  template <class K, class X, class Y, class Q, class T, class Meets>
  double error_of_some(std::vector<std::size_t> const& which, K const& k, soa<X, K::dim> const& x,
                       soa<Y, K::dim> const& y, soa<Q, K::n_in> const& q,
                       soa<T, K::n_out> const& got, Meets&& meets, T initial)
  {
    auto const targets = some_of(x, which);
    auto sums = reference(k, targets.view(), y, q,
                          [&](std::size_t s, std::size_t j) { return meets(which[s], j); });
    add_initial(sums, initial);
    auto some = some_of(got, which);
    return error_of(some.view(), sums);
  }
}
