#include <nearfield/p2p/simd.hpp>

#include "p2p/own_formulas.hpp"
#include "p2p/own_interactions.hpp"
#include "p2p/own_sums.hpp"

#include <gtest/gtest.h>

// A user's own interaction needs no registration: these are compiled here, for this file's instruction
// set, and for a GPU in own_interactions.cu.

namespace nearfield::test
{
  TEST(own_interaction, of_the_documentation_runs_on_every_back_end)
  {
    expect_own<float>(softened{.eps2 = 1e-3});
    expect_own<double>(softened{.eps2 = 1e-3});
  }

  TEST(own_interaction, is_singular_where_its_formula_is)
  {
    EXPECT_FALSE(is_singular(softened{.eps2 = 1e-3}));
    EXPECT_TRUE(is_singular(softened{.eps2 = 0}));
  }

  TEST(own_interaction, may_mix_parities_in_a_full_matrix)
  {
    expect_own<float>(mixed{});
    expect_own<double>(mixed{});
  }

  TEST(own_interaction, may_be_radial)
  {
    static_assert(detail::radial_interaction<inverse_square> &&
                  !detail::homogeneous_in_root<inverse_square>);
    expect_own<float>(inverse_square{});
    expect_own<double>(inverse_square{});
  }

  TEST(own_interaction, may_be_radial_and_regular)
  {
    static_assert(detail::radial_interaction<spring>);
    expect_own<float>(spring{.reach = 0.25});
    expect_own<double>(spring{.reach = 0.25});
  }

  // On a GPU the sums of teams stand side by side in shared memory.
  TEST(own_interaction, may_have_many_outputs)
  {
    expect_own<float>(outer_product{.eps2 = 1e-3});
    expect_own<double>(outer_product{.eps2 = 1e-3});
    expect_own_boxes<float>(outer_product{.eps2 = 1e-3});
    expect_own_boxes<double>(outer_product{.eps2 = 1e-3});
  }

  // A normal of each point: the way back is that of the other one.
  TEST(own_interaction, may_read_parameters_of_points)
  {
    static_assert(detail::radial_interaction<dipole> && detail::has_way_back<dipole>);
    expect_own<float>(dipole{});
    expect_own<double>(dipole{});
    expect_own_boxes<double>(dipole{});
  }

  TEST(own_interaction, with_parameters_may_be_regular)
  {
    static_assert(!detail::radial_interaction<blobs>);
    expect_own<float>(blobs{});
    expect_own<double>(blobs{});
    expect_own_boxes<float>(blobs{});
  }

  TEST(own_interaction, without_a_symmetry_has_no_mutual_kernel)
  {
    static_assert(detail::has_way_back<softened> && detail::has_way_back<mixed>);
    static_assert(detail::has_way_back<inverse_square>);
    static_assert(!detail::has_way_back<one_way>);
    EXPECT_EQ((kernels_of<double, one_way>(simd).mutual), nullptr);
    EXPECT_EQ((kernels_of<double, one_way>(scalar).mutual), nullptr);
    expect_own<float>(one_way{});
    expect_own<double>(one_way{});
  }
}
