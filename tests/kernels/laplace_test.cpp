#include "kernels/kernel_tests.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nearfield::test
{
  TEST(laplace, hessians_are_those_of_the_potential)
  {
    expect_kernel(hess_one_over_r{});
    expect_kernel(hess_log_r{});
  }

  TEST(laplace, dipoles_are_derivatives_with_respect_to_the_source)
  {
    expect_kernel(dipole_one_over_r{});
    expect_kernel(val_grad_dipole_one_over_r{});
    expect_kernel(charge_dipole_one_over_r{});
    expect_kernel(dipole_log_r{});
  }

  TEST(laplace, a_double_layer_is_a_dipole_along_the_normal_of_its_source)
  {
    expect_kernel(double_layer_one_over_r{});
    expect_own_boxes<double>(double_layer_one_over_r{});
  }

  TEST(laplace, the_logarithm_comes_with_its_gradient)
  {
    expect_kernel(val_grad_log_r{});
    EXPECT_EQ(check_interaction(simd, val_grad_log_r{}, {.has_gradient = true}), "");
    expect_no_net_force(val_grad_log_r{}, 1);
  }

  // A closed surface of density 1: the solid angle of a sphere is 4 pi inside, and 0 outside (Kellogg, chapter III).
  TEST(laplace, the_double_layer_of_a_sphere_is_its_solid_angle)
  {
    constexpr int rings = 60, around = 120;
    constexpr std::size_t n = rings * around;
    constexpr double pi = 3.14159265358979323846;
    guarded<double, 6> sphere(n), targets(2);
    guarded<double, 1> area(n), out(2);
    for (int i = 0; i < rings; ++i)
      for (int j = 0; j < around; ++j)
      {
        // the midpoint rule in the height and the angle: equal areas
        double const z = -1 + (i + 0.5) * 2 / rings, s = std::sqrt(1 - z * z);
        double const angle = 2 * pi * j / around;
        double const normal[] = {s * std::cos(angle), s * std::sin(angle), z};
        auto const at = static_cast<std::size_t>(i * around + j);
        for (int d = 0; d < 3; ++d)
        {
          sphere.column(d)[at] = normal[d];
          sphere.column(3 + d)[at] = normal[d];
        }
        area.column(0)[at] = 4 * pi / n;
      }
    targets.column(0)[0] = 0.2;
    targets.column(1)[1] = 3;
    p2p_outer(simd, double_layer_one_over_r{}, targets.view(), sphere.view(), area.view(),
              out.view());
    EXPECT_NEAR(out.view()[0][0], -4 * pi, 1e-3);
    EXPECT_NEAR(out.view()[0][1], 0, 1e-3);
  }

  TEST(laplace, is_the_same_elsewhere)
  {
    expect_the_same_elsewhere(hess_one_over_r{});
    expect_the_same_elsewhere(charge_dipole_one_over_r{});
    expect_the_same_elsewhere(double_layer_one_over_r{});
    expect_the_same_elsewhere(val_grad_log_r{});
    expect_the_same_elsewhere(dipole_log_r{});
  }

  TEST(laplace, holds_over_its_ranges)
  {
    expect_ranges(hess_one_over_r{}, {2.2e-13, 4.3e12}, {2.7e-103, 3.5e102});
    expect_ranges(dipole_one_over_r{}, {3e-13, 4.3e12}, {3e-102, 3.5e102});
    expect_ranges(val_grad_dipole_one_over_r{}, {2.2e-13, 4.3e12}, {2.7e-103, 3.5e102});
    expect_ranges(charge_dipole_one_over_r{}, {2.2e-13, 4.3e12}, {2.7e-103, 3.5e102});
    expect_ranges(val_grad_log_r{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
    expect_ranges(hess_log_r{}, {1.1e-19, 9e18}, {1.5e-154, 6.7e153});
    expect_ranges(dipole_log_r{}, {1.1e-19, 9e18}, {1.2e-153, 6.7e153});
  }
}
