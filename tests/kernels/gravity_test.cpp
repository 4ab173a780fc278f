#include <nearfield/kernels/gravity.hpp>

#include "kernels/pair_checks.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    long_matrix<4, 1> value_and_gradient(long double value, long double factor,
                                         long_vector<3> const& r)
    {
      return {{{value}, {factor * r[0]}, {factor * r[1]}, {factor * r[2]}}};
    }

    long_matrix<4, 1> plummer(long_vector<3> const& r, long double eps2)
    {
      long double const s = std::sqrt(norm(r) * norm(r) + eps2);
      return value_and_gradient(1 / s, -1 / (s * s * s), r);
    }

    /// Of a polynomial of up to degree 9 over [a, b], by five nodes of Gauss.
    template <class F>
    long double integral(F const& f, long double a, long double b)
    {
      long double const root = std::sqrt(10.L / 7), middle = (a + b) / 2, half = (b - a) / 2;
      long double sum = 128.L / 225 * f(middle);
      for (int const sign : {-1, 1})
      {
        long double const node = std::sqrt(5 + sign * 2 * root) / 3;
        long double const weight = (322 - sign * 13 * std::sqrt(70.L)) / 900;
        sum += weight * (f(middle - half * node) + f(middle + half * node));
      }
      return half * sum;
    }

    /// The density of a unit mass that a cubic spline spreads over the unit ball.
    long double spline_density(long double u)
    {
      long double const rest = 1 - u;
      long double const by = 8 / std::numbers::pi_v<long double>;
      return u < 0.5L ? by * (1 - 6 * u * u + 6 * u * u * u) : by * 2 * rest * rest * rest;
    }

    /// The integral of density u^power, times 4 pi, from a to b in [0, 1].
    long double shells(int power, long double a, long double b)
    {
      auto const f = [&](long double u)
      {
        return 4 * std::numbers::pi_v<long double> * spline_density(u) * (power == 1 ? u : u * u);
      };
      long double const knot = 0.5L;
      return integral(f, std::min(a, knot), std::min(b, knot)) +
             integral(f, std::max(a, knot), std::max(b, knot));
    }
  }

  template <>
  struct formula<plummer_gravity>
  {
    static long_matrix<4, 1> at(plummer_gravity const& k, long_vector<3> const& r)
    {
      return plummer(r, static_cast<long double>(k.eps) * k.eps);
    }
  };

  template <>
  struct formula<individual_plummer_gravity>
  {
    static long_matrix<4, 1> at(individual_plummer_gravity, long_vector<3> const& r,
                                long_vector<1> const& i, long_vector<1> const& j)
    {
      return plummer(r, i[0] * i[0] + j[0] * j[0]);
    }
  };

  /// By Newton's theorem: the mass within |r| acts from the centre, and shells outside have a constant potential.
  template <>
  struct formula<spline_gravity>
  {
    static long_matrix<4, 1> at(spline_gravity, long_vector<3> const& r, long_vector<1> const& i,
                                long_vector<1> const& j)
    {
      long double const d = norm(r), h = std::max(i[0], j[0]);
      if (d >= h) return d > 0 ? plummer(r, 0) : long_matrix<4, 1>{};
      long double const u = d / h, inside = shells(2, 0, u);
      return value_and_gradient(((u > 0 ? inside / u : 0) + shells(1, u, 1)) / h,
                                u > 0 ? -inside / (d * d * d) : 0, r);
    }
  };

  template <class T>
  class gravity : public ::testing::Test
  {};
  using reals_of_gravity = ::testing::Types<float, double>;
  TYPED_TEST_SUITE(gravity, reals_of_gravity);

  TYPED_TEST(gravity, is_its_formula_at_every_distance)
  {
    using T = TypeParam;
    bool const is_float = sizeof(T) == 4;
    double const far = is_float ? 4e12 : 3e102, least = is_float ? 1e-18 : 1e-150;
    for (double const eps : {1e-3, 1., 1e5})
    {
      expect_pairs_of_formula<T>(plummer_gravity{.eps = eps}, least * eps, far, {0});
      std::array const parameters{0.5 * eps, eps};
      expect_pairs_of_formula<T>(individual_plummer_gravity{}, least * eps, far, {0}, parameters);
      expect_pairs_of_formula<T>(spline_gravity{}, least * eps, far, {0}, parameters);
    }
    expect_pairs_of_formula<T>(spline_gravity{}, 0.01, 2);
    // unsoftened, and nothing at one place
    double const near = is_float ? 3e-13 : 3e-102;
    expect_pairs_of_formula<T>(individual_plummer_gravity{}, near, far, {}, {0, 0});
    expect_pairs_of_formula<T>(spline_gravity{}, near, far, {0}, {0, 0});
    for (double const h : {is_float ? 4e-13 : near, far}) // the ends of the range of h
      expect_pairs_of_formula<T>(spline_gravity{}, 1e-3 * h, h, {0}, {h, h});
  }

  TEST(gravity_of_points, has_the_gradient_of_its_potential)
  {
    std::vector<double> distances;
    for (int i = 1; i < 400; ++i) distances.push_back(0.01 * i);
    expect_gradient(plummer_gravity{.eps = 0.3}, distances);
    expect_gradient(individual_plummer_gravity{}, distances);
    expect_gradient(spline_gravity{}, distances);
  }

  TEST(gravity_of_points, keeps_its_momentum)
  {
    auto const x = some_points_of<spline_gravity, double>(cloud::plummer, 257, 1);
    auto const m = some_values<double, 1>(x.size(), 2);
    expect_no_net_force(individual_plummer_gravity{}, x, m);
    expect_no_net_force(spline_gravity{}, x, m);
    expect_no_net_force(plummer_gravity{.eps = 0.1}, some_points<double, 3>(cloud::plummer, 257),
                        m);
  }

  TEST(gravity_of_points, is_well_made)
  {
    check_options const of_points{.has_gradient = true};
    for (double const eps : {0., 0.2})
      EXPECT_EQ(check_interaction(simd, plummer_gravity{.eps = eps}), "");
    EXPECT_EQ(check_interaction(simd, individual_plummer_gravity{}, of_points), "");
    EXPECT_EQ(check_interaction(simd, spline_gravity{}, of_points), "");
    EXPECT_EQ(check_interaction(scalar, spline_gravity{}, of_points), "");
    EXPECT_TRUE(is_singular(plummer_gravity{}));
    EXPECT_FALSE(is_singular(spline_gravity{}) || is_singular(individual_plummer_gravity{}));
  }

  TEST(spline_softening, is_continuous_and_as_deep_as_plummers)
  {
    auto const at = [](double r, double h)
    {
      return detail::evaluate(spline_gravity{},
                              detail::pair_at<spline_gravity, double>{{r, 0, 0}, {h}, {h / 2}})
          .to({1});
    };
    for (double const h : {0.5, 2.8})
      for (double const knot : {0.5, 1.})
      {
        double const step = 1e-13 * h;
        auto const before = at(knot * h - step, h), after = at(knot * h + step, h);
        for (int o = 0; o < 2; ++o)
          EXPECT_NEAR(before[o], after[o], 1e-11 * std::abs(after[o])) << knot << " " << o;
      }
    double const eps = 0.7;
    EXPECT_NEAR(at(0, 2.8 * eps)[0], 1 / eps, 1e-14);
    EXPECT_EQ(at(0, 1)[1], 0);
  }
}
