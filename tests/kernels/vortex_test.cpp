#include "kernels/flows.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

namespace nearfield::test
{
  TEST(vortices, pairs_are_right_in_the_documented_ranges)
  {
    expect_pairs(biot_savart{}, {3e-13, 4.3e12}, {3e-102, 3.5e102});
    expect_pairs(grad_biot_savart{}, {2.2e-13, 4.3e12}, {2.7e-103, 3.5e102});
    expect_pairs(biot_savart_stretching{}, {2.2e-13, 4.3e12}, {2.7e-103, 3.5e102});
    expect_pairs(point_vortex{}, {1.1e-19, 9e18}, {1.2e-153, 6.7e153});
    expect_pairs(lamb_oseen{}, {1e-19, 9e18}, {1e-150, 6.7e153});
    auto const of_blobs = [](auto k)
    {
      expect_pairs(k, {1e-18, 4.3e12}, {1e-150, 3.5e102});
    };
    of_blobs(gaussian_vortex{});
    of_blobs(grad_gaussian_vortex{});
    of_blobs(gaussian_vortex_stretching{});
    of_blobs(algebraic_vortex{});
    of_blobs(grad_algebraic_vortex{});
    of_blobs(algebraic_vortex_stretching{});
  }

  // |r| / sigma from 0.01 to 100: series, erf and the singular element.
  TEST(vortices, cores_are_right_near_their_size)
  {
    pair_range const near{1e-2, 30}, small{1e-9, 1e-6, {1e-8, 1e-7}};
    auto const of_blobs = [&](auto k)
    {
      expect_pairs(k, near, near);
      expect_pairs(k, small, small);
    };
    of_blobs(gaussian_vortex{});
    of_blobs(grad_gaussian_vortex{});
    of_blobs(gaussian_vortex_stretching{});
    of_blobs(algebraic_vortex{});
    of_blobs(grad_algebraic_vortex{});
    of_blobs(algebraic_vortex_stretching{});
    of_blobs(lamb_oseen{});
  }

  namespace
  {
    template <class Blob, class Singular>
    void expect_limits(Blob const& blob, Singular const& singular)
    {
      random_numbers random(1);
      auto const at = [](auto const& k, auto const& r, long double sigma)
      {
        using K = std::remove_cvref_t<decltype(k)>;
        long_parameters<K> parameters{};
        parameters.fill(0.5L);
        if constexpr (detail::parameters_of<K> % 3 == 1) parameters[0] = sigma;
        return matrix_of(k, r, parameters, parameters);
      };
      for (int sample = 0; sample < 20; ++sample)
      {
        auto const r = random_vector<Blob::dim>(random);
        auto const small = at(blob, r, 1e-6L), point = at(singular, r, 0);
        for (int o = 0; o < Blob::n_out; ++o)
          for (int i = 0; i < Blob::n_in; ++i)
            EXPECT_NEAR(small[o][i] / (std::abs(point[o][i]) + 1),
                        point[o][i] / (std::abs(point[o][i]) + 1), 1e-10)
                << Blob::name;
      }
      auto const centre = at(blob, long_vector<Blob::dim>{}, 2);
      for (auto const& row : centre)
        for (long double const entry : row) EXPECT_TRUE(std::isfinite(entry)) << Blob::name;
      EXPECT_FALSE(is_singular<float>(blob) || is_singular<double>(blob));
      EXPECT_TRUE(is_singular<float>(singular) && is_singular<double>(singular));
    }
  }

  TEST(vortices, blobs_of_a_small_core_are_singular_ones_and_all_are_finite_in_their_middle)
  {
    expect_limits(gaussian_vortex{}, biot_savart{});
    expect_limits(grad_gaussian_vortex{}, grad_biot_savart{});
    expect_limits(gaussian_vortex_stretching{}, biot_savart_stretching{});
    expect_limits(algebraic_vortex{}, biot_savart{});
    expect_limits(grad_algebraic_vortex{}, grad_biot_savart{});
    expect_limits(algebraic_vortex_stretching{}, biot_savart_stretching{});
    expect_limits(lamb_oseen{}, point_vortex{});
  }

  namespace
  {
    /// The trace of the gradient.
    template <class K>
    void expect_no_divergence(K const& k)
    {
      random_numbers random(2);
      long_parameters<K> sigma{};
      sigma.fill(0.4L);
      for (int sample = 0; sample < 50; ++sample)
      {
        auto const m = matrix_of(k, random_vector<3>(random), sigma, sigma);
        for (int i = 0; i < 3; ++i)
        {
          long double const size = std::abs(m[0][i]) + std::abs(m[4][i]) + std::abs(m[8][i]) + 1;
          EXPECT_NEAR((m[0][i] + m[4][i] + m[8][i]) / size, 0, 1e-15) << K::name;
        }
      }
    }
  }

  TEST(vortices, velocities_have_no_divergence)
  {
    expect_no_divergence(grad_biot_savart{});
    expect_no_divergence(grad_gaussian_vortex{});
    expect_no_divergence(grad_algebraic_vortex{});
  }

  // In its middle a blob turns like a solid: the curl there is 4 pi times 2/3 of its vorticity.
  TEST(vortices, gradients_in_the_middle_are_a_rotation)
  {
    long double const pi = std::acos(-1.L), sigma = 0.7L, s3 = sigma * sigma * sigma;
    auto const expect_rotation = [&](auto k, long double vorticity)
    {
      auto const m = matrix_of(k, {}, {sigma}, {sigma});
      // q along z: duy/dx - dux/dy
      EXPECT_NEAR(m[3][2] - m[1][2], 4 * pi * 2 / 3 * vorticity, 1e-14) << k.name;
    };
    expect_rotation(grad_gaussian_vortex{}, 1 / (std::pow(2 * pi, 1.5L) * s3));
    expect_rotation(grad_algebraic_vortex{}, 15 / (8 * pi * s3));
  }

  TEST(vortices, sums_are_those_of_a_plain_loop)
  {
    EXPECT_EQ(check_interaction(simd, grad_biot_savart{}), "");
    EXPECT_EQ(check_interaction(simd, algebraic_vortex_stretching{}), "");
    EXPECT_EQ(check_interaction(simd, lamb_oseen{}), "");
  }
}
