// The operations of a pair, against counts by hand. docs/performance.md ("Bounds") has the rules.

#include <operations.hpp>

#include <nearfield/kernels/builtin.hpp>

#include <gtest/gtest.h>

namespace nearfield::test
{
  namespace
  {
    void expect(bench::operations const& found, double products, double sums, double roots)
    {
      EXPECT_EQ(found.products, products);
      EXPECT_EQ(found.sums, sums);
      EXPECT_EQ(found.roots, roots);
    }

    TEST(operations, of_a_potential)
    {
      // r takes 3 subtractions, r^2 a product and two fmas, the sum an fma
      expect(bench::operations_of<one_over_r<3>>(false), 3 + 1, 3, 1);
      expect(bench::operations_of<one_over_r<3>>(true), 3 + 2, 3, 1);
      expect(bench::operations_of<one_over_r<2>>(false), 2 + 1, 2, 1);
    }

    TEST(operations, of_a_value_and_its_gradient)
    {
      // 1/r^2; then q/r, q/r^3 and three products with r, which the sums take along
      expect(bench::operations_of<val_grad_one_over_r<3>>(false), 3 + 1 + 5, 3, 1);
      expect(bench::operations_of<val_grad_one_over_r<3>>(true), 3 + 1 + 2 * 5, 3, 1);
    }

    TEST(operations, of_other_interactions)
    {
      // the softening is an addition to a finished sum
      expect(bench::operations_of<r_over_r3<3>>(false), 3 + 2 + 1 + 3, 3 + 1, 1);
      // 1/r^2, 1/r^3, 3/r^2; r.q and a factor of it; three components, which take -q along; 1/r^3
      expect(bench::operations_of<dipole_tensor<3>>(false), 3 + 3 + 4 + 3 + 3, 3, 1);
      // -1/sigma^2, which is -1 and free, times r^2; the exponential; q
      expect(bench::operations_of<gaussian<3>>(false), 3 + 1, 3, 1);
      expect(bench::operations_of<log_r>(false), 2 + 1 + 1, 2, 1);
    }

    TEST(operations, of_several_right_hand_sides)
    {
      // K once: r^2; an fma for each right-hand side
      expect(bench::operations_of<one_over_r<3>>(false, 8), 3 + 8, 3, 1);
      expect(bench::operations_of<one_over_r<3>>(true, 8), 3 + 16, 3, 1);
      // and 1/r^2; four entries
      expect(bench::operations_of<val_grad_one_over_r<3>>(false, 2), 3 + 1 + 2 * 4, 3, 1);
    }
  }
}
