// What docs/packages.md shows of calling such an interaction, docs/kernels.md of one by its name, and docs/conventions.md
// of views with strides.

#include "softened.hpp"

// [include_check]
#include <nearfield/p2p/check_interaction.hpp>
// [include_check]
#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nf = nearfield;

TEST(docs_interaction, is_called_like_a_built_in_one)
{
  std::vector<double> const x{0, 3}, y{0, 4}, z{0, 0}, q{1, 10};
  std::vector<double> phi(2), gx(2), gy(2), gz(2), narrow(2);
  // clang-format off
  // [call]
  nf::p2p_inner(nf::simd, my::softened{0.01}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi, gx, gy, gz});
  // [call]
  // clang-format on
  EXPECT_NEAR(phi[0], 10 / std::sqrt(25.01), 1e-13);
  EXPECT_NEAR(gx[0], 10 * 3 / std::pow(25.01, 1.5), 1e-13);
  EXPECT_NEAR(gy[1], -4 / std::pow(25.01, 1.5), 1e-13);
  nf::p2p_inner(nf::simd_backend{nf::available_isas().front()}, my::softened{0.01},
                nf::soa{x, y, z}, nf::soa{q}, nf::soa{narrow, gx, gy, gz});
  EXPECT_NEAR(narrow[1], 1 / std::sqrt(25.01), 1e-13);
}

TEST(docs_interaction, has_no_mistakes)
{
  // [check]
  EXPECT_EQ(nf::check_interaction(nf::simd, my::softened{0.01}), ""); // "": no mistake found
  // [check]
}

TEST(docs_interaction, has_a_name)
{
  std::vector<double> const x{0, 3}, y{0, 4}, z{0, 0}, q{1, 10};
  std::vector<double> phi(2), gx(2), gy(2), gz(2);
  // [by_name]
  nf::any_interaction const k("plummer_gravity", 3, {{"eps", 0.01}});
  nf::p2p_inner(nf::simd, k, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi, gx, gy, gz});
  // [by_name]
  EXPECT_NEAR(phi[0], 10 / std::sqrt(25.0001), 1e-13);
}

TEST(docs_views, have_strides)
{
  std::size_t const n = 2;
  std::vector<double> const xyz{0, 0, 0, 0, 3, 4}, q{1, 10};
  std::vector<double> gradients(3 * n), rows{0, 0, 0, 1, 0, 0, 0, 0, 3, 4, 10, 0, 0, 0};
  nf::grad_one_over_r<> const k;
  // clang-format off
  // [strides]
  // x0 y0 z0 x1 y1 z1 ...
  nf::p2p_inner(nf::simd, k, nf::interleaved<3>(xyz), nf::soa{q}, nf::interleaved<3>(gradients));

  // a matrix: each row has the 7 values of a point, x y z q and a gradient
  double* const m = rows.data();
  nf::p2p_inner(nf::simd, k, nf::matrix_columns<3>(m, n, 7, 1), nf::matrix_columns<1>(m + 3, n, 7, 1),
                nf::matrix_columns<3>(m + 4, n, 7, 1));
  // [strides]
  // clang-format on
  std::vector<double> const expected{0, 10 * 3. / 125, 10 * 4. / 125, 0, -3. / 125, -4. / 125};
  for (std::size_t i = 0; i < 3 * n; ++i)
  {
    EXPECT_NEAR(gradients[i], expected[i], 1e-13);
    EXPECT_EQ(rows[i / 3 * 7 + 4 + i % 3], gradients[i]);
  }
}
