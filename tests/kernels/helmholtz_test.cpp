#include "kernels/kernel_tests.hpp"

#include <gtest/gtest.h>

namespace nearfield::test
{
  TEST(helmholtz, waves_are_those_of_the_potential)
  {
    for (double const k : {0., 0.6, -9.})
    {
      expect_kernel(helmholtz{.k = k});
      expect_kernel(val_grad_helmholtz{.k = k});
      expect_kernel(dipole_helmholtz{.k = k});
    }
  }

  TEST(helmholtz, is_the_same_elsewhere)
  {
    expect_the_same_elsewhere(val_grad_helmholtz{.k = 20});
    expect_the_same_elsewhere(dipole_helmholtz{.k = 20});
  }

  TEST(helmholtz, holds_over_its_ranges)
  {
    expect_ranges(helmholtz{}, {1.1e-19, 1e5}, {1.5e-154, 1e5});
    expect_ranges(val_grad_helmholtz{}, {3e-13, 1e5}, {3e-102, 1e5});
    expect_ranges(dipole_helmholtz{}, {3e-13, 1e5}, {3e-102, 1e5});
    expect_ranges(val_grad_helmholtz{.k = 1e6}, {3e-13, 0.1}, {3e-102, 0.1});
  }
}
