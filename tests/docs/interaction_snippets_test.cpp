// What docs/packages.md shows of calling such an interaction.

#include "softened.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nf = nearfield;

TEST(docs_interaction, is_called_like_a_built_in_one)
{
  std::vector<double> const x{0, 3}, y{0, 4}, z{0, 0}, q{1, 10};
  std::vector<double> phi(2), narrow(2);
  // [call]
  nf::p2p_inner(nf::simd, my::softened{0.01}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi});
  // [call]
  EXPECT_NEAR(phi[0], 10 / std::sqrt(25.01), 1e-13);
  nf::p2p_inner(nf::simd_backend{nf::available_isas().front()}, my::softened{0.01},
                nf::soa{x, y, z}, nf::soa{q}, nf::soa{narrow});
  EXPECT_NEAR(narrow[1], 1 / std::sqrt(25.01), 1e-13);
}
