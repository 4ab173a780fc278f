// What the documents show of StarPU, between markers // [name].

#include "clouds.hpp"

// [starpu_step]
#include <nearfield/kernels/one_over_r.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>
namespace nf = nearfield;
// [starpu_step]

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/search/pair_slabs.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{
  TEST(docs, starpu_step)
  {
    std::size_t const n = 2000;
    auto const x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3),
               q = nf::test::values(n, 4);
    std::vector<double> gx(n), gy(n), gz(n);
    // clang-format off
    // [starpu_step]

    // x, y, z, q, gx, gy, gz: std::vector<double> of one size
    auto const tree = nf::build_tree(nf::soa{x, y, z}, {.max_leaf_size = 64});
    nf::starpu::runtime    starpu;                 // all cores; GPUs where StarPU has some
    auto const groups = nf::group_leaves(starpu, tree);
    nf::starpu::near_field step{starpu, groups, nf::grad_one_over_r<>{},
                                nf::soa{x, y, z}, nf::soa{q}, nf::soa{gx, gy, gz}};
    step.submit();
    step.wait();                                   // gx, gy, gz in the order of x, y, z
    // [starpu_step]
    // clang-format on

    auto const points = nf::gather(tree.target_order(), nf::soa{x, y, z});
    auto const charges = nf::gather(tree.target_order(), q);
    nf::column_set<double, 3> gradient;
    for (auto& column : gradient.columns) column.resize(n);
    nf::near_field(nf::serial, nf::scalar, nf::grad_one_over_r<>{}, tree.targets(),
                   tree.interactions(), points.view(), nf::soa{charges}, gradient.view());
    auto const expected = nf::gather(nf::inverse(tree.target_order()), gradient.columns[0]);
    double largest = 0;
    for (double value : expected) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(gx[i], expected[i], 1e-12 * largest);
  }

  TEST(docs, pair_slabs)
  {
    std::size_t const n = 500;
    auto x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3);
    nf::starpu::runtime const starpu;
    nf::cell_list const cells{nf::soa{x, y, z}, 0.2};
    auto const hx = nf::starpu::handle::of(x.data(), n), hy = nf::starpu::handle::of(y.data(), n),
               hz = nf::starpu::handle::of(z.data(), n);
    // clang-format off
    // [pair_slabs]
    nf::starpu::pair_slabs list{starpu, cells, {hx, hy, hz}};   // handles of x, y, z; slabs are counted
    list.fill();                                                // and filled: list.i(s), list.j(s)
    // [pair_slabs]
    // clang-format on

    nf::coo<double, 3> found;
    list.to_host(found);
    auto const expected = nf::radius_search(nf::simd, cells, nf::to_coo{});
    EXPECT_GT(expected.size(), n);
    EXPECT_TRUE(std::ranges::equal(found.i, expected.i));
    EXPECT_TRUE(std::ranges::equal(found.j, expected.j));
  }
}
