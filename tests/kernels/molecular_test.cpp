#include <nearfield/kernels/molecular.hpp>

#include "kernels/mixture.hpp"
#include "kernels/pair_checks.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// An energy, and its derivative by r.
    struct energy_and_slope
    {
      long double energy, slope;
    };

    energy_and_slope twelve_six(long double r, long double sigma, long double epsilon)
    {
      long double const s6 = std::pow(sigma / r, 6.L);
      return {4 * epsilon * (s6 * s6 - s6), -24 * epsilon * (2 * s6 * s6 - s6) / r};
    }

    energy_and_slope with_tail(lennard_jones_tail tail, long double r, long double sigma,
                               long double epsilon, long double cutoff, long double width)
    {
      if (r >= cutoff) return {0, 0};
      auto of = twelve_six(r, sigma, epsilon);
      long double const t = (r - (cutoff - width)) / width;
      if (tail == lennard_jones_tail::shifted)
        of.energy -= twelve_six(cutoff, sigma, epsilon).energy;
      if (tail == lennard_jones_tail::switched && t > 0)
      {
        long double const rest = 1 - t, by = rest * rest * rest * (1 + 3 * t + 6 * t * t);
        of.slope = of.slope * by - of.energy * 30 * t * t * rest * rest / width;
        of.energy *= by;
      }
      return of;
    }
  }

  template <int Dim, lennard_jones_tail Tail>
  struct formula<mixed_lennard_jones<Dim, Tail>>
  {
    using K = mixed_lennard_jones<Dim, Tail>;
    static long_matrix<K::n_out, 1> at(K const& k, long_vector<Dim> const& r,
                                       long_vector<2> const& i, long_vector<2> const& j)
    {
      long double const d = norm(r);
      auto const of =
          with_tail(Tail, d, (i[0] + j[0]) / 2, std::sqrt(i[1] * j[1]), k.r_c, k.switch_width);
      long_matrix<K::n_out, 1> out{};
      out[0][0] = of.energy / 2;
      for (int a = 0, next = 1 + Dim; a < Dim; ++a)
      {
        out[1 + a][0] = -of.slope * r[a] / d;
        for (int b = a; b < Dim; ++b) out[next++][0] = -of.slope * r[a] * r[b] / d / 2;
      }
      return out;
    }
  };

  namespace
  {
    constexpr auto cut = lennard_jones_tail::cut, shifted = lennard_jones_tail::shifted,
                   switched = lennard_jones_tail::switched;

    template <class T>
    class molecular : public ::testing::Test
    {};
    using reals_of_molecules = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(molecular, reals_of_molecules);
  }

  TYPED_TEST(molecular, is_its_formula_at_every_distance)
  {
    using T = TypeParam;
    expect_pairs_of_formula<T>(mixed_lennard_jones<3, cut>{}, 0.6, 3);
    expect_pairs_of_formula<T>(mixed_lennard_jones<2, shifted>{}, 0.6, 3);
    expect_pairs_of_formula<T>(mixed_lennard_jones<3, shifted>{}, 0.6, 3);
    expect_pairs_of_formula<T>(mixed_lennard_jones<3, switched>{}, 0.6, 3);
    expect_pairs_of_formula<T>(mixed_lennard_jones<3, switched>{.switch_width = 2}, 0.6, 3);
    // the ends of the range
    bool const is_float = sizeof(T) == 4;
    double const far = is_float ? 1e7 : 1e52;
    expect_pairs_of_formula<T>(mixed_lennard_jones<3, shifted>{.r_c = far},
                               is_float ? 2.4e-3 : 1.3e-22, is_float ? 8e4 : 4.2e38, {}, {1, 1});
  }

  TEST(mixed_molecules, have_forces_that_are_gradients_and_end_at_the_cutoff)
  {
    std::vector<double> distances;
    for (int i = 60; i < 300; ++i) distances.push_back(0.01 * i + 0.001);
    expect_gradient(mixed_lennard_jones<3, shifted>{}, distances, -2);
    expect_gradient(mixed_lennard_jones<3, switched>{}, distances, -2);

    auto const at = []<lennard_jones_tail Tail>(mixed_lennard_jones<3, Tail> const& k, double r)
    {
      using K = mixed_lennard_jones<3, Tail>;
      return detail::evaluate(k, detail::pair_at<K, double>{{r, 0, 0}, {1, 1}, {1, 1}}).to({1});
    };
    mixed_lennard_jones<3, shifted> const with_jump;
    mixed_lennard_jones<3, switched> const smooth;
    EXPECT_EQ(with_jump.cutoff(), 2.5);
    EXPECT_NEAR(at(with_jump, 2.5 - 1e-9)[0], 0, 1e-9);
    for (int o : {0, 1, 4}) EXPECT_NEAR(at(smooth, 2.5 - 1e-6)[o], 0, 1e-9) << o;
    for (int o : {0, 1, 4}) EXPECT_EQ(at(smooth, 2.5)[o], 0) << o;
    double const from = smooth.r_c - smooth.switch_width;
    for (int o : {0, 1, 4})
      EXPECT_NEAR(at(smooth, from - 1e-9)[o], at(smooth, from + 1e-9)[o], 1e-8) << o;
  }

  TEST(mixed_molecules, keep_their_momentum)
  {
    std::size_t const n = 125;
    guarded<double, 5> x(n);
    guarded<double, 1> const ones(n, 1);
    random_numbers random(6);
    for (std::size_t i = 0; i < n; ++i)
    {
      for (std::size_t d = 0, rest = i; d < 3; ++d, rest /= 5)
        x.column(static_cast<int>(d))[i] = double(rest % 5) + random.uniform(-.1, .1);
      x.column(3)[i] = random.uniform(.7, .9);
      x.column(4)[i] = random.uniform(.5, 2);
    }
    expect_no_net_force(mixed_lennard_jones<3, shifted>{}, x, ones);
    expect_no_net_force(mixed_lennard_jones<3, switched>{}, x, ones);
  }

  TEST(mixed_molecules, are_well_made)
  {
    EXPECT_EQ(check_interaction(simd, mixed_lennard_jones<3, shifted>{.r_c = 4}), "");
    EXPECT_EQ(check_interaction(simd, mixed_lennard_jones<3, switched>{.r_c = 4}), "");
    EXPECT_EQ(check_interaction(scalar, mixed_lennard_jones<2, cut>{.r_c = 4}), "");
  }

  // A type that is none may not make a kernel read beside its tables: it is taken for another.
  TYPED_TEST(molecular, types_that_are_none_are_taken_for_others)
  {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    lennard_jones<3, 3> const k({.sigma = {1, .9, .8, .9, .85, 1.1, .8, 1.1, .7},
                                 .epsilon = {1, 1.2, .5, 1.2, .6, .3, .5, .3, .9},
                                 .cutoff = {3, 3, 3, 3, 3, 3, 3, 3, 3}});
    std::vector<T> const types{0,
                               1,
                               2,
                               -1,
                               3,
                               T(1.5),
                               T(1e10),
                               T(-1e30),
                               limits::max(),
                               limits::infinity(),
                               -limits::infinity(),
                               limits::quiet_NaN()};
    std::size_t const n = types.size();
    guarded<T, 4> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i)
    {
      y.column(0)[i] = T(1.2);
      x.column(3)[i] = y.column(3)[i] = types[i];
    }
    std::vector<double> energies;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        energies.push_back(detail::evaluate(k,
                                            detail::pair_at<lennard_jones<3, 3>, double>{
                                                {1.2, 0, 0}, {double(a)}, {double(b)}})
                               .to({1})[0]);
    for (tested_backend const& backend : tested_backends())
      for (std::size_t j = 0; j < n; ++j)
      {
        guarded<T, 4> one(1);
        for (int c = 0; c < 4; ++c) one.column(c)[0] = y.column(c)[j];
        guarded<T, 1> const q(1, T(1)), ones(n, T(1));
        guarded<T, 10> of_targets(n), of_sources(n), unused(1);
        backend.run(
            [&](auto where)
            {
              p2p_outer(where, k, x.view(), one.view(), q.view(), of_targets.view());
              p2p_outer_mutual(where, k, one.view(), x.view(), q.view(), ones.view(), unused.view(),
                               of_sources.view());
            });
        for (auto const* out : {&of_targets, &of_sources})
          for (std::size_t i = 0; i < n; ++i)
          {
            double const energy = double(out->column(0)[i]);
            EXPECT_TRUE(std::ranges::any_of(energies,
                                            [&](double e) { return std::abs(e - energy) < 1e-6; }))
                << backend << ": " << energy << " of types " << types[i] << " and " << types[j];
          }
      }
  }
}
