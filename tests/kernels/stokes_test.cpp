#include "kernels/flows.hpp"
#include "p2p/guarded.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  TEST(stokes, pairs_are_right_in_the_documented_ranges)
  {
    expect_pairs(stokeslet{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
    expect_pairs(stokeslet_pressure{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
    expect_pairs(grad_stokeslet{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
    expect_pairs(stresslet{}, {8e-19, 9e18}, {6e-151, 6.7e153});
    expect_pairs(stresslet_pressure{}, {8e-13, 4.3e12}, {6e-102, 3.5e102});
    expect_pairs(rotlet{}, {3e-13, 4.3e12}, {3e-102, 3.5e102});
    expect_pairs(regularised_stokeslet{}, {1e-19, 9e18}, {1e-150, 6.7e153});
    expect_pairs(rpy{}, {1e-19, 9e18}, {1e-150, 6.7e153});
    expect_pairs(log_stokeslet{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
  }

  TEST(stokes, parameters_of_every_size_count)
  {
    expect_pairs(regularised_stokeslet{}, {1e-2, 1e2}, {1e-2, 1e2});
    expect_pairs(regularised_stokeslet{}, {1e-9, 1e-6, {1e-9, 1e-6}}, {1e-9, 1e-6, {1e-9, 1e-6}});
    expect_pairs(rpy{}, {1e-2, 1e1, {1e-3, 4}}, {1e-2, 1e1, {1e-3, 4}});
    expect_pairs(rpy{}, {1e-2, 1e1, {1, 1 + 1e-6}}, {1e-2, 1e1, {1, 1 + 1e-12}});
  }

  TEST(stokes, regular_ones_are_finite_where_points_coincide)
  {
    auto const blob = matrix_of(regularised_stokeslet{}, {}, {3}, {2});
    auto const inside = matrix_of(rpy{}, {}, {3}, {2}), equal = matrix_of(rpy{}, {}, {2}, {2});
    for (int o = 0; o < 3; ++o)
      for (int i = 0; i < 3; ++i)
      {
        EXPECT_NEAR(blob[o][i], o == i ? 2 / 2. : 0, 1e-15);
        EXPECT_NEAR(inside[o][i], o == i ? 4 / 9. : 0, 1e-15);
        EXPECT_NEAR(equal[o][i], o == i ? 4 / 6. : 0, 1e-15);
      }
    EXPECT_FALSE(is_singular(regularised_stokeslet{}) || is_singular<float>(rpy{}));
    EXPECT_TRUE(is_singular(stokeslet{}) && is_singular<float>(log_stokeslet{}));
  }

  namespace
  {
    /// laplace(u) = grad p and div u = 0 at random points, of a kernel with outputs u and p.
    template <class K>
    void expect_stokes_flow(K const& k)
    {
      random_numbers random(1);
      for (int sample = 0; sample < 20; ++sample)
      {
        auto const r = random_vector<3>(random);
        long_vector<3> const normal{0.3L, -0.7L, 0.5L};
        auto const at = [&](long_vector<3> const& x)
        {
          if constexpr (detail::parameters_of<K> > 0)
            return matrix_of(k, x, normal, normal);
          else
            return matrix_of(k, x);
        };
        long double const d = norm(r), step = 0.01L * d;
        long_matrix<4, 3> laplacian{};
        std::array<long_matrix<4, 3>, 3> derivative;
        for (int j = 0; j < 3; ++j)
        {
          long_vector<3> axis{};
          axis[j] = 1;
          derivative[j] = along(at, r, axis, step);
          auto const second =
              along([&](auto const& x) { return along(at, x, axis, step); }, r, axis, step);
          for (int o = 0; o < 4; ++o)
            for (int i = 0; i < 3; ++i) laplacian[o][i] += second[o][i];
        }
        for (int i = 0; i < 3; ++i)
        {
          long double const size = 1 / (d * d * d * d) + 1 / (d * d * d);
          EXPECT_NEAR((derivative[0][0][i] + derivative[1][1][i] + derivative[2][2][i]) / size, 0,
                      1e-9);
          for (int o = 0; o < 3; ++o)
            EXPECT_NEAR((laplacian[o][i] - derivative[o][3][i]) / size, 0, 1e-8) << K::name;
        }
      }
    }
  }

  TEST(stokes, velocities_and_pressures_solve_the_equations)
  {
    expect_stokes_flow(stokeslet_pressure{});
    expect_stokes_flow(stresslet_pressure{});
  }

  TEST(stokes, gradients_of_the_velocity_have_no_trace)
  {
    random_numbers random(2);
    for (int sample = 0; sample < 50; ++sample)
    {
      auto const m = matrix_of(grad_stokeslet{}, random_vector<3>(random));
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(m[0][i] + m[4][i] + m[8][i], 0,
                    1e-17 * (std::abs(m[0][i]) + std::abs(m[4][i]) + std::abs(m[8][i]) + 1));
    }
  }

  TEST(stokes, regularised_stokeslet_of_a_small_eps_is_singular)
  {
    random_numbers random(3);
    for (int sample = 0; sample < 20; ++sample)
    {
      auto const r = random_vector<3>(random);
      auto const blob = matrix_of(regularised_stokeslet{}, r, {1}, {1e-10L});
      auto const point = matrix_of(stokeslet{}, r);
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 3; ++i)
          EXPECT_NEAR(blob[o][i], point[o][i], 1e-17 / std::pow(norm(r), 3));
    }
  }

  TEST(stokes, rpy_is_continuous_where_spheres_touch)
  {
    for (auto const& [a, b] : {std::array{1.L, 1.L}, {1.L, 0.3L}, {0.2L, 0.9L}})
      for (long double const contact : {a + b, std::abs(a - b)})
      {
        if (contact == 0) continue;
        long_vector<3> const x{2 / 7.L, -3 / 7.L, 6 / 7.L};
        auto const at = [&, a = a, b = b](long double d)
        {
          return matrix_of(rpy{}, {d * x[0], d * x[1], d * x[2]}, {a}, {b});
        };
        auto const before = at(contact * (1 - 1e-9L)), after = at(contact * (1 + 1e-9L));
        for (int o = 0; o < 3; ++o)
          for (int i = 0; i < 3; ++i)
            EXPECT_NEAR(before[o][i], after[o][i], 1e-8) << a << " " << b << " " << contact;
      }
  }

  // Spheres of all sizes, some inside others: Cholesky's factorisation needs positive pivots.
  TEST(stokes, rpy_mobilities_are_positive_definite)
  {
    constexpr std::size_t n = 24, size = 3 * n;
    random_numbers random(4);
    std::vector<long_vector<3>> x(n);
    std::vector<long double> a(n);
    for (std::size_t i = 0; i < n; ++i)
    {
      x[i] = random_vector<3>(random);
      a[i] = random.uniform(0.1, 1);
    }
    x[1] = x[0];
    a[2] = a[3];
    std::vector<long double> m(size * size);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
      {
        auto block = matrix_of(rpy{}, {x[i][0] - x[j][0], x[i][1] - x[j][1], x[i][2] - x[j][2]},
                               {a[i]}, {a[j]});
        for (std::size_t o = 0; o < 3; ++o)
          for (std::size_t c = 0; c < 3; ++c) m[(3 * i + o) * size + 3 * j + c] = block[o][c];
      }
    for (std::size_t k = 0; k < size; ++k)
    {
      for (std::size_t j = 0; j < k; ++j) m[k * size + k] -= m[k * size + j] * m[k * size + j];
      ASSERT_GT(m[k * size + k], 0) << k;
      m[k * size + k] = std::sqrt(m[k * size + k]);
      for (std::size_t i = k + 1; i < size; ++i)
      {
        for (std::size_t j = 0; j < k; ++j) m[i * size + k] -= m[i * size + j] * m[k * size + j];
        m[i * size + k] /= m[k * size + k];
      }
    }
  }

  TEST(stokes, sums_are_those_of_a_plain_loop)
  {
    EXPECT_EQ(check_interaction(simd, stokeslet{}), "");
    EXPECT_EQ(check_interaction(simd, stresslet_pressure{}), "");
    EXPECT_EQ(check_interaction(simd, rpy{}), "");
  }

  // The work of forces f in the flow of forces g is that of g in the flow of f.
  TEST(stokes, mutual_sums_of_forces_are_reciprocal)
  {
    constexpr std::size_t n = 100;
    auto const x = make_points<double, 3>(cloud::uniform, n, 1);
    auto const f = make_points<double, 3>(cloud::uniform, n, 2),
               g = make_points<double, 3>(cloud::uniform, n, 3);
    guarded<double, 3> u(n), v(n);
    p2p_inner_mutual(simd, stokeslet{}, x.view(), f.view(), u.view());
    p2p_inner_mutual(simd, stokeslet{}, x.view(), g.view(), v.view());
    double forth = 0, back = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (int d = 0; d < 3; ++d)
      {
        forth += g.columns[d][i] * u.view()[d][i];
        back += f.columns[d][i] * v.view()[d][i];
      }
    EXPECT_NEAR(forth / back, 1, 1e-13);
  }
}
