// A program of ScalFMM's kind that changes the type of its matrix kernel. What stands between the
// lines of dashes, here and in interaction_of_test.cpp, is printed in docs/embedding.md.

#include "scalfmm/group.hpp"

// --- matrix_kernel
#include <nearfield/scalfmm.hpp>

// in place of scalfmm::matrix_kernels::laplace::val_grad_one_over_r<3>
using near_matrix_kernel = nearfield::scalfmm3::matrix_kernel<nearfield::val_grad_one_over_r<3>>;
using near_field_type = scalfmm::operators::near_field_operator<near_matrix_kernel>;

// the particles, the tree, the far field and the passes stay as they are
using particle_type = scalfmm::container::particle<double, 3, double, near_matrix_kernel::km,
                                                   double, near_matrix_kernel::kn>;

near_field_type make_near_field()
{
  bool const mutual = true; // both leaves of a pair from one evaluation
  return {near_matrix_kernel{}, mutual};
}
// ---

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace nearfield::test
{
  TEST(scalfmm_program, changes_the_type_of_its_matrix_kernel_only)
  {
    group<double, 3, 1, 4> g(1);
    std::array const open{false, false, false};
    g.make_lists(open, true);
    static_assert(std::is_same_v<decltype(g)::particle, particle_type>);
    near_field_type const near_field = make_near_field();
    scalfmm::algorithms::direct(g.leaves, near_field, open, 1.);
    for (int l = 0; l < 27; ++l)
    {
      auto const sums = expected(val_grad_one_over_r<3>{}, g, l, 0, true, true,
                                 [&](int b, auto& shift) { return g.touch(l, b, open, shift); });
      EXPECT_LE(error_of(g.outputs<4>(l), sums), tolerance<double>);
    }
  }
}
