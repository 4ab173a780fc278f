#pragma once

#include "kernels/potentials.hpp"
#include "p2p/own_sums.hpp"
#include "p2p/ranges.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>

/// \file
/// What every kernel of potential theory must hold, compiled in its test's own file.

namespace nearfield::test
{
  /// Each entry of K at random r beside the derivatives of its potential, within a hundred roundings.
  template <class T, class K>
  void expect_formula(K const& k)
  {
    random_numbers random(1);
    for (int sample = 0; sample < 200; ++sample)
    {
      vec<T, K::dim> r;
      long_vector<K::dim> exact;
      for (int d = 0; d < K::dim; ++d) exact[d] = r[d] = static_cast<T>(random.uniform(-1.5, 1.5));
      auto const map = detail::evaluate(k, r);
      auto const expected = formula<K>::at(k, exact);
      auto const size = size_of_term<T>(k, exact);
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<T, K::n_in> one{};
        one[i] = T(1);
        auto const column = map.to(one);
        for (int o = 0; o < K::n_out; ++o)
          ASSERT_NEAR(static_cast<double>(column[o]), static_cast<double>(expected[o][i]),
                      static_cast<double>(100 * std::numeric_limits<T>::epsilon() * size[o]))
              << K::name << ", K_" << o << i;
      }
    }
  }

  /// The formula, the sums in every form, the way back, float beside double, powers of inv_r, what lies beyond a cutoff.
  template <class K>
  void expect_kernel(K const& k)
  {
    if constexpr (detail::parameters_of<K> == 0)
    {
      expect_formula<float>(k);
      expect_formula<double>(k);
    }
    expect_own<float>(k);
    expect_own<double>(k);
    EXPECT_EQ(check_interaction(simd, k), "");
  }

  /// Charges at two places a power of two apart: the differences of coordinates, and so the sums, are the same.
  template <class K>
  void expect_the_same_elsewhere(K const& k)
  {
    constexpr std::size_t n = 37;
    auto x = some_points_of<K, double>(cloud::uniform, n, 1);
    auto const q = some_values<double, K::n_in>(n, 2);
    guarded<double, K::n_out> here(n), there(n);
    for (int d = 0; d < K::dim; ++d)
      for (double& c : x.column(d)) c = std::round(c * 4096) / 4096;
    p2p_inner(simd, k, x.view(), q.view(), here.view());
    for (int d = 0; d < K::dim; ++d)
      for (double& c : x.column(d)) c += 1024;
    p2p_inner(simd, k, x.view(), q.view(), there.view());
    for (int o = 0; o < K::n_out; ++o)
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(here.view()[o][i], there.view()[o][i]);
  }

  /// Actio = reactio: charges times their gradients, outputs `first` to first + dim - 1, add up to nothing.
  template <class K>
  void expect_no_net_force(K const& k, int first)
  {
    constexpr std::size_t n = 333;
    auto const x = some_points_of<K, double>(cloud::uniform, n, 1);
    auto const q = some_values<double, 1>(n, 2);
    guarded<double, K::n_out> out(n), both(n);
    p2p_inner(simd, k, x.view(), q.view(), out.view());
    p2p_inner_mutual(simd, k, x.view(), q.view(), both.view());
    for (auto const& sums : {out.view(), both.view()})
      for (int d = 0; d < K::dim; ++d)
      {
        double net = 0, sizes = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
          net += q.view()[0][i] * sums[first + d][i];
          sizes += std::abs(q.view()[0][i] * sums[first + d][i]);
        }
        EXPECT_LE(std::abs(net), 1e-13 * sizes) << K::name;
      }
  }

  /// The rows of docs/kernels.md.
  template <class K>
  void expect_ranges(K const& k, range of_float, range of_double)
  {
    SCOPED_TRACE(K::name);
    expect_right_pairs<float>(k, of_float);
    expect_right_pairs<double>(k, of_double);
  }
}
