#include "kernels/kernel_tests.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <numbers>

namespace nearfield::test
{
  TEST(screened, yukawas_kernels_are_those_of_the_potential)
  {
    for (double const kappa : {0., 0.7, 5.})
    {
      expect_kernel(yukawa{.kappa = kappa});
      expect_kernel(grad_yukawa{.kappa = kappa});
      expect_kernel(val_grad_yukawa{.kappa = kappa});
      expect_kernel(dipole_yukawa{.kappa = kappa});
    }
  }

  TEST(screened, ewalds_kernels_are_those_of_the_potential)
  {
    for (double const r_c : {0., 0.8})
    {
      expect_kernel(ewald_real{.alpha = 2.5, .r_c = r_c});
      expect_kernel(val_grad_ewald_real{.alpha = 2.5, .r_c = r_c});
    }
    EXPECT_EQ(check_interaction(simd, val_grad_ewald_real{.alpha = 2.5}, {.has_gradient = true}),
              "");
  }

  TEST(screened, gradients_have_no_net_force)
  {
    expect_no_net_force(grad_yukawa{}, 0);
    expect_no_net_force(val_grad_yukawa{.kappa = 3}, 1);
    expect_no_net_force(val_grad_ewald_real{.alpha = 2}, 1);
  }

  TEST(screened, is_the_same_elsewhere)
  {
    expect_the_same_elsewhere(val_grad_yukawa{});
    expect_the_same_elsewhere(val_grad_ewald_real{});
  }

  // Both parts of Ewald's sum for the charges +1 and -1 of rock salt in a cube of 2: Madelung's constant.
  TEST(screened, ewalds_sum_gives_madelungs_constant)
  {
    constexpr double alpha = 2.5, pi = std::numbers::pi, box = 2;
    constexpr int images = 2, waves = 12;
    guarded<double, 3> origin(1), ions(8 * 125);
    guarded<double, 1> charges(ions.view().size()), out(1);
    std::size_t next = 0;
    auto const for_each = [](int first, int last, auto const& f)
    {
      for (int a = first; a <= last; ++a)
        for (int b = first; b <= last; ++b)
          for (int c = first; c <= last; ++c) f(a, b, c);
    };
    for_each(-2 * images, 2 * images + 1,
             [&](int a, int b, int c)
             {
               if ((a == 0 && b == 0 && c == 0) || next == ions.view().size()) return;
               ions.column(0)[next] = a;
               ions.column(1)[next] = b;
               ions.column(2)[next] = c;
               charges.column(0)[next++] = (a + b + c) % 2 == 0 ? 1 : -1;
             });
    // the last one of the columns is left over: no charge
    p2p_outer(simd, ewald_real{.alpha = alpha}, origin.view(), ions.view(), charges.view(),
              out.view());
    double sum = out.view()[0][0] - 2 * alpha / std::sqrt(pi);
    for_each(-waves, waves,
             [&](int a, int b, int c)
             {
               if (a == 0 && b == 0 && c == 0) return;
               double const k2 = 4 * pi * pi / (box * box) * (a * a + b * b + c * c);
               double structure = 0;
               for_each(0, 1,
                        [&](int x, int y, int z)
                        {
                          structure += ((x + y + z) % 2 == 0 ? 1 : -1) *
                                       std::cos(2 * pi / box * (a * x + b * y + c * z));
                        });
               sum += 4 * pi / (box * box * box) * std::exp(-k2 / (4 * alpha * alpha)) / k2 *
                      structure;
             });
    EXPECT_NEAR(sum, -1.7475645946331822, 1e-10);
  }

  TEST(screened, holds_over_its_ranges)
  {
    expect_ranges(yukawa{}, {1.1e-19, 80}, {1.5e-154, 700});
    expect_ranges(grad_yukawa{}, {3e-13, 80}, {3e-102, 700});
    expect_ranges(val_grad_yukawa{}, {3e-13, 80}, {3e-102, 700});
    expect_ranges(dipole_yukawa{}, {3e-13, 80}, {3e-102, 700});
    expect_ranges(yukawa{.kappa = 1e6}, {1.1e-19, 80e-6}, {1.5e-154, 700e-6});
    expect_ranges(ewald_real{}, {1.1e-19, 9.1}, {1.5e-154, 26.4});
    expect_ranges(val_grad_ewald_real{}, {3e-13, 9.1}, {3e-102, 26.4});
    expect_ranges(val_grad_ewald_real{.alpha = 1e4}, {3e-13, 9.1e-4}, {3e-102, 26.4e-4});
  }
}
