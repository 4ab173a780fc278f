#include <nearfield/kernels/sph.hpp>

#include "kernels/pair_checks.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    constexpr auto cubic = sph_kernel::cubic_spline, wendland = sph_kernel::wendland_c2;
    constexpr long double pi = std::numbers::pi_v<long double>;

    /// w and dw/dq, piece by piece.
    struct shape_and_slope
    {
      long double w, slope;
    };
    shape_and_slope shape_of(sph_kernel kernel, long double q)
    {
      if (q >= 2) return {0, 0};
      long double const rest = 2 - q;
      if (kernel == wendland)
        return {std::pow(rest / 2, 4.L) * (1 + 2 * q), -5 * q * std::pow(rest / 2, 3.L)};
      if (q >= 1) return {std::pow(rest, 3.L) / 4, -3 * rest * rest / 4};
      return {1 - 3 * q * q / 2 + 3 * q * q * q / 4, -3 * q + 9 * q * q / 4};
    }

    /// [W; grad W]
    template <int Dim>
    long_matrix<1 + Dim, 1> value_and_gradient(sph_kernel kernel, long_vector<Dim> const& r,
                                               long double h)
    {
      long double const of_cubic = Dim == 2 ? 10 / (7 * pi) : 1 / pi,
                        of_wendland = Dim == 2 ? 7 / (4 * pi) : 21 / (16 * pi);
      long double const s = (kernel == cubic ? of_cubic : of_wendland) / std::pow(h, 1.L * Dim);
      long double const d = norm(r);
      auto const of = shape_of(kernel, d / h);
      long_matrix<1 + Dim, 1> k{};
      k[0][0] = s * of.w;
      if (d > 0)
        for (int a = 0; a < Dim; ++a) k[1 + a][0] = s * of.slope / h * r[a] / d;
      return k;
    }
  }

  template <int Dim, sph_kernel Kernel>
  struct formula<sph_density<Dim, Kernel>>
  {
    static long_matrix<1, 1> at(sph_density<Dim, Kernel> const& k, long_vector<Dim> const& r)
    {
      return {value_and_gradient<Dim>(Kernel, r, k.h)[0]};
    }
  };

  template <int Dim, sph_kernel Kernel>
  struct formula<sph_gather_density<Dim, Kernel>>
  {
    static long_matrix<1, 1> at(sph_gather_density<Dim, Kernel>, long_vector<Dim> const& r,
                                long_vector<1> const& i, long_vector<1> const&)
    {
      return {value_and_gradient<Dim>(Kernel, r, i[0])[0]};
    }
  };

  template <int Dim, sph_kernel Kernel>
  struct formula<sph_symmetric_density<Dim, Kernel>>
  {
    static long_matrix<1, 1> at(sph_symmetric_density<Dim, Kernel>, long_vector<Dim> const& r,
                                long_vector<1> const& i, long_vector<1> const& j)
    {
      return {value_and_gradient<Dim>(Kernel, r, (i[0] + j[0]) / 2)[0]};
    }
  };

  template <int Dim, sph_kernel Kernel>
  struct formula<sph_gradient<Dim, Kernel>>
  {
    static long_matrix<1 + Dim, 1> at(sph_gradient<Dim, Kernel>, long_vector<Dim> const& r,
                                      long_vector<1> const& i, long_vector<1> const& j)
    {
      return value_and_gradient<Dim>(Kernel, r, (i[0] + j[0]) / 2);
    }
  };

  namespace
  {
    template <class K>
    void expect_formula()
    {
      for (double const h : {1e-3, 1., 1e4})
      {
        // relative to what they are at q = 0 and 1: near q = 2 all goes to zero
        auto const floor = static_cast<long double>(K::n_out > 1 ? std::pow(h, -K::dim - 1) / 4
                                                                 : std::pow(h, -K::dim) / 4);
        auto const distances = {0., 0.999 * h, 1.001 * h, 1.999 * h, 2 * h, 3 * h};
        std::array const same{h, h}, mixed{0.5 * h, 1.5 * h};
        K k{};
        if constexpr (requires { k.h; }) k.h = h;
        for (auto const& parameters : {same, mixed})
        {
          expect_pairs_of_formula<float>(k, 1e-18 * h, 1e18 * h, distances, parameters, floor);
          expect_pairs_of_formula<double>(k, 1e-150 * h, 1e150 * h, distances, parameters, floor);
          expect_pairs_of_formula<float>(k, 0.1 * h, 3 * h, {}, parameters, floor);
          expect_pairs_of_formula<double>(k, 0.1 * h, 3 * h, {}, parameters, floor);
        }
      }
    }

    /// W or its derivative along the first axis, both points with the same h.
    template <class K>
    double output(int o, double r, double h)
    {
      detail::pair_at<K, double> pair{};
      pair.r[0] = r;
      pair.target[0] = pair.source[0] = h;
      return detail::evaluate(K{}, pair).to({1})[o];
    }

    /// The integral of W over the plane or space, piece by piece of a polynomial.
    template <class K>
    double integral_of_density(double h)
    {
      // Gauss, six nodes: exact up to degree 11
      constexpr double node[] = {0.2386191860831969, 0.6612093864662645, 0.9324695142031521};
      constexpr double weight[] = {0.4679139345726910, 0.3607615730481386, 0.1713244923791704};
      double sum = 0;
      for (int piece = 0; piece < 2; ++piece)
        for (int i = 0; i < 3; ++i)
          for (int const sign : {-1, 1})
          {
            double const r = h * (piece + 0.5 + 0.5 * sign * node[i]);
            double const shell =
                K::dim == 2 ? 2 * std::numbers::pi * r : 4 * std::numbers::pi * r * r;
            sum += h * 0.5 * weight[i] * shell * output<K>(0, r, h);
          }
      return sum;
    }

    template <int Dim, sph_kernel Kernel>
    void expect_smooth_and_normal()
    {
      using gradient = sph_gradient<Dim, Kernel>;
      for (double const h : {0.3, 1., 20.})
      {
        EXPECT_NEAR((integral_of_density<gradient>(h)), 1, 1e-14);
        EXPECT_NEAR((integral_of_density<sph_gather_density<Dim, Kernel>>(h)), 1, 1e-14);
        double const scale = sph_density<Dim, Kernel>{.h = h}.at_zero();
        EXPECT_DOUBLE_EQ((output<gradient>(0, 0, h)), scale);
        EXPECT_DOUBLE_EQ((sph_gather_density<Dim, Kernel>::at_zero(h)), scale);
        EXPECT_EQ((output<gradient>(1, 0, h)), 0);
        for (double const knot : {1., 2.})
          for (int o = 0; o < 2; ++o)
            EXPECT_NEAR((output<gradient>(o, (knot - 1e-12) * h, h)),
                        (output<gradient>(o, (knot + 1e-12) * h, h)), 1e-11 * scale / (o ? h : 1))
                << knot << " " << o;
        EXPECT_EQ((output<gradient>(0, 2 * h, h)), 0);
        EXPECT_EQ((output<gradient>(1, 2 * h, h)), 0);
      }
    }

    template <int Dim, sph_kernel Kernel>
    void expect_gradients()
    {
      using gradient = sph_gradient<Dim, Kernel>;
      std::vector<double> distances;
      for (int i = 1; i < 200; ++i) distances.push_back(0.011 * i);
      expect_gradient(gradient{}, distances);
      auto const x = some_points_of<gradient, double>(cloud::coincident, 129, 1);
      expect_no_net_force(gradient{}, x, some_values<double, 1>(x.size(), 2));
      EXPECT_EQ(check_interaction(simd, gradient{}, {.has_gradient = true}), "");
      EXPECT_FALSE(is_singular(gradient{}));
    }
  }

  TEST(sph, is_its_formula_at_every_distance)
  {
    detail::sph_interactions::for_each([]<class K>() { expect_formula<K>(); });
  }

  TEST(sph, densities_are_well_made)
  {
    EXPECT_EQ(check_interaction(simd, sph_density<2>{.h = .5}), "");
    EXPECT_EQ(check_interaction(simd, sph_gather_density<3, wendland>{}), "");
    EXPECT_EQ(check_interaction(simd, sph_symmetric_density<3>{}), "");
  }

  TEST(sph, is_smooth_and_its_integral_is_1)
  {
    expect_smooth_and_normal<2, cubic>();
    expect_smooth_and_normal<3, cubic>();
    expect_smooth_and_normal<2, wendland>();
    expect_smooth_and_normal<3, wendland>();
  }

  TEST(sph, has_gradients_that_keep_momentum)
  {
    expect_gradients<2, cubic>();
    expect_gradients<3, cubic>();
    expect_gradients<2, wendland>();
    expect_gradients<3, wendland>();
  }
}
