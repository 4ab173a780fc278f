// A program of its own: the macro changes inline functions.
#define scalfmm_BUILD_PBC

#include "scalfmm/p2p_cases.hpp"

#include <cmath>

namespace nearfield::test
{
  namespace
  {
    template <class Case>
    struct scalfmm_periodic : scalfmm_p2p<Case>
    {};
    using periodic_cases =
        testing::Types<scalfmm_case<one_over_r<2>, double>,
                       scalfmm_case<val_grad_one_over_r<3>, float>,
                       scalfmm_case<one_over_r<3>, double, 2>, scalfmm_case<softened, float>,
                       scalfmm_case<mixed, double>, scalfmm_case<one_way, double>>;
    TYPED_TEST_SUITE(scalfmm_periodic, periodic_cases);

    TYPED_TEST(scalfmm_periodic, whole_pass_meets_the_images_of_leaves_that_touch)
    {
      std::array<bool, TestFixture::dim> open{}, slab{}, torus;
      slab[1] = true;
      torus.fill(true);
      for (auto const& periodic : {open, slab, torus}) this->expect_whole_pass(periodic);
    }
  }

  // ScalFMM's own P2P gives an infinity there.
  TEST(scalfmm_periodic, an_image_at_the_place_of_a_point_adds_nothing)
  {
    group<double, 3, 1, 4> g(1);
    for (auto& column : g.x)
    {
      column[g.offsets[0]] = 1; // at the far corner, whose image is the origin
      column[g.offsets[3]] = 0;
    }
    // the leaf of the origin's cell, and the one in the far corner
    auto at_origin = g.leaves[3];
    auto at_corner = g.leaves[0];
    std::array const neighbours{&at_corner};
    using position = decltype(g)::leaf::position_type;
    at_origin = {at_origin.particles(), position{{1. / 6, 1. / 6, 1. / 6}}};
    at_corner = {at_corner.particles(), position{{5. / 6, 5. / 6, 5. / 6}}};
    matrix_kernel<val_grad_one_over_r<3>> const mk;
    p2p_full_mutual(mk, at_origin, neighbours, 1, std::array{true, true, true}, 1.);
    for (auto const& column : g.out)
      for (double const value : column) EXPECT_TRUE(std::isfinite(value));
  }
}
