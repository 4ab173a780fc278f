#include "kernels/kernel_tests.hpp"

#include <gtest/gtest.h>

namespace nearfield::test
{
  TEST(inverse_square, values_and_gradients_are_those_of_the_potential)
  {
    expect_kernel(one_over_r2<2>{});
    expect_kernel(one_over_r2<3>{});
    expect_kernel(grad_one_over_r2<2>{});
    expect_kernel(grad_one_over_r2<3>{});
    expect_kernel(val_grad_one_over_r2<2>{});
    expect_kernel(val_grad_one_over_r2<3>{});
  }

  TEST(inverse_square, gradients_have_no_net_force)
  {
    expect_no_net_force(grad_one_over_r2<2>{}, 0);
    expect_no_net_force(val_grad_one_over_r2<3>{}, 1);
  }

  TEST(inverse_square, is_the_same_elsewhere)
  {
    expect_the_same_elsewhere(val_grad_one_over_r2<2>{});
    expect_the_same_elsewhere(val_grad_one_over_r2<3>{});
  }

  TEST(inverse_square, holds_over_its_ranges)
  {
    expect_ranges(one_over_r2<3>{}, {1.1e-19, 9e18}, {1.2e-153, 6.7e153});
    expect_ranges(grad_one_over_r2<3>{}, {5.6e-10, 3.5e9}, {2e-76, 1e77});
    expect_ranges(val_grad_one_over_r2<2>{}, {5.6e-10, 3.5e9}, {2e-76, 1e77});
  }
}
