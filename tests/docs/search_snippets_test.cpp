// What the documents show of the radius search on a CPU, between markers // [name].

#include "clouds.hpp"

// [search]
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
// [search]
#include <nearfield/kernels/molecular.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace nf = nearfield;

namespace
{
  TEST(docs, search)
  {
    std::size_t const n = 500;
    double const cutoff = 0.2;
    auto const x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3),
               q = nf::test::values(n, 4);
    // clang-format off
    // [search]

    nf::cell_list const cells{nf::soa{x, y, z}, cutoff};       // {.period = {L, L, 0}}: an open z axis
    nf::csr const  list  = nf::radius_search(nf::simd, cells, nf::to_csr{});    // row i: all neighbours of point i
    nf::coo const  pairs = nf::radius_search(nf::simd, cells, nf::to_coo{});    // each pair once
    double sum = 0;                                                            // or no list at all
    nf::radius_search(nf::simd, cells, nf::visit{[&](auto i, auto j, auto r2) { sum += q[i] * q[j] / r2; }});
    // [search]
    // [box]

    nf::cell<3> const box{.vectors = {{{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1}}}, .periodic = {true, true, false}};
    nf::cell_list const in_box{nf::soa{x, y, z}, cutoff, {.cell = box}};     // any shape, points anywhere
    nf::coo const with_images = nf::radius_search(nf::simd, in_box, nf::to_coo{.images = nf::image_columns::counters});
    // pair p: x_j + S_0 vectors[0] + S_1 vectors[1] is within the cutoff of x_i, with S_a = with_images.images[a][p]
    // [box]
    std::vector<nf::index_type> type(n);
    for (std::size_t i = 0; i < n; ++i) type[i] = i % 3 == 0;
    // [filter]

    std::vector<double> const by_type{0.2, 0.1,      // types 0-0, 0-1
                                      0.1, 0};       // 1-0, 1-1: never
    nf::filtered const some{cells, {.types = type, .type_cutoffs = by_type}};
    nf::csr const fewer = nf::radius_search(nf::simd, some, nf::to_csr{});
    // [filter]
    // [arrays]

    std::uint64_t const n_pairs = nf::radius_search(nf::simd, cells, nf::count_pairs{nf::pairs::full}).total;
    std::vector<std::int64_t> edges(2 * n_pairs);      // (n, 2)
    std::vector<double> vectors(3 * n_pairs);          // (n, 3), from i to j
    auto const ij = nf::interleaved<2>(edges);
    nf::radius_search(nf::simd, cells, nf::to_arrays<double, 3>{
        .order = nf::pair_order::sorted, .i = {ij, 0}, .j = {ij, 1}, .to_j = nf::interleaved<3>(vectors)});
    // [arrays]
    // clang-format on
    // [threads]

    nf::threads threads;
    nf::cell_list const sorted{nf::simd.with(threads), nf::soa{x, y, z}, cutoff};
    nf::csr const list_of_threads = nf::radius_search(nf::simd.with(threads), sorted, nf::to_csr{});
    // [threads]
    EXPECT_TRUE(std::ranges::equal(list_of_threads.columns, list.columns));
    auto mx = x, my = y, mz = z;
    mx[7] += 0.05 * cutoff;
    // clang-format off
    // [skin]
    nf::cell_list kept{nf::soa{x, y, z}, cutoff, {.skin = 0.1 * cutoff}};
    // points move
    bool const rebuilt = kept.update(nf::soa{mx, my, mz});           // or sorts them again, where that is needed
    nf::coo const now = nf::radius_search(nf::simd, kept, nf::to_coo{});   // pairs within the cutoff now
    // [skin]
    // clang-format on
    EXPECT_FALSE(rebuilt);
    nf::cell_list const fresh{nf::soa{mx, my, mz}, cutoff};
    EXPECT_EQ(now.size(), nf::radius_search(nf::simd, fresh, nf::to_coo{}).size());

    double expected = 0;
    std::size_t found = 0, found_by_type = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
      {
        double const dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
        double const r2 = dx * dx + dy * dy + dz * dz;
        double const by = by_type[type[i] * 2 + type[j]];
        found_by_type += r2 < by * by;
        if (r2 >= cutoff * cutoff) continue;
        ++found;
        expected += q[i] * q[j] / r2;
      }
    EXPECT_GT(found, n);
    for (std::size_t p = 0; p < with_images.size(); ++p)
    {
      auto const i = with_images.i[p], j = with_images.j[p];
      double d[] = {x[j] - x[i], y[j] - y[i], z[j] - z[i]}, r2 = 0;
      for (int b = 0; b < 3; ++b)
      {
        for (int a = 0; a < 3; ++a) d[b] += with_images.images[a][p] * box.vectors[a][b];
        r2 += d[b] * d[b];
      }
      EXPECT_LT(r2, cutoff * cutoff * (1 + 1e-12));
    }
    EXPECT_GT(with_images.size(), found);
    EXPECT_EQ(pairs.size(), found);
    EXPECT_EQ(list.columns.size(), 2 * found);
    EXPECT_EQ(n_pairs, 2 * found);
    for (std::size_t p = 0; p < n_pairs; ++p)
    {
      EXPECT_EQ(vectors[3 * p], x[edges[2 * p + 1]] - x[edges[2 * p]]);
      EXPECT_LE(edges[p > 0 ? 2 * p - 2 : 0], edges[2 * p]);
    }
    EXPECT_GT(found_by_type, 0u);
    EXPECT_EQ(fewer.columns.size(), 2 * found_by_type);
    EXPECT_NEAR(sum, expected, 1e-9 * expected);
  }

  TEST(docs, batches)
  {
    std::vector<double> const bx = {0, 0.8, 0, 0.5, 0}, by = {0, 0, 0, 0, 0.7}, bz(5, 0);
    // clang-format off
    // [batch]
    std::vector<int> const batch = {0, 0, 1, 1, 1};                // the system of each point, in any order
    std::vector<double> const cutoffs = {0.9, 0.6};
    auto const by_system = nf::systems_of(batch);
    nf::systems<3> const both{.offsets = by_system.offsets, .cutoffs = cutoffs, .order = by_system.order};
    nf::cell_list const cells_of_batch{nf::soa{bx, by, bz}, both};           // .cells: boxes
    nf::coo const pairs_of_batch = nf::radius_search(nf::simd, cells_of_batch, nf::to_coo{});
    auto const first_pair = nf::pair_offsets(pairs_of_batch, both);          // of each system
    // [batch]
    // clang-format on
    EXPECT_EQ(first_pair, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(pairs_of_batch.i[1] + pairs_of_batch.j[1], 5);
  }

  TEST(docs, lennard_jones)
  {
    std::vector<double> const x = {0, 1, 2.2}, y(3, 0), z(3, 0), ones(3, 1);
    nf::cell_list const cells{nf::soa{x, y, z}, 2.5};
    std::vector<double> e(3), fx(3), fy(3), fz(3), xx(3), xy(3), xz(3), yy(3), yz(3), zz(3);
    // clang-format off
    // [lennard_jones]
    nf::lennard_jones<3, 2> const k({.sigma = {1, 0.9, 0.9, 0.8}, .epsilon = {1, 1.2, 1.2, 0.6}, .cutoff = {2.5, 2.5, 2.5, 2}});
    std::vector<double> const type = {0, 1, 1};
    nf::near_field(nf::simd, k, cells, nf::soa{x, y, z, type}, nf::soa{ones},
                   nf::soa{e, fx, fy, fz, xx, xy, xz, yy, yz, zz}, {.form = nf::pair_form::mutual});
    // [lennard_jones]
    // clang-format on
    auto const energy = [](double sigma, double epsilon, double r, double cutoff)
    {
      auto const at = [&](double d)
      {
        double const s6 = std::pow(sigma / d, 6);
        return 4 * epsilon * (s6 * s6 - s6);
      };
      return at(r) - at(cutoff);
    };
    EXPECT_NEAR(e[0] + e[1] + e[2],
                energy(.9, 1.2, 1, 2.5) + energy(.9, 1.2, 2.2, 2.5) + energy(.8, .6, 1.2, 2),
                1e-12);
    EXPECT_NEAR(fx[0] + fx[1] + fx[2], 0, 1e-12);
    // clang-format off
    // [excluded_sums]
    std::vector<std::uint64_t> const offsets = {0, 1, 2, 2};     // a chain 0 - 1 - 2
    std::vector<nf::index_type> const bonded = {1, 2};
    nf::near_field(nf::simd, k, cells, nf::soa{x, y, z, type}, nf::soa{ones},
                   nf::soa{e, fx, fy, fz, xx, xy, xz, yy, yz, zz},
                   {.form = nf::pair_form::mutual, .excluded_offsets = offsets, .excluded = bonded});
    // [excluded_sums]
    // clang-format on
    EXPECT_NEAR(e[0] + e[1] + e[2], energy(.9, 1.2, 2.2, 2.5), 1e-12);
  }
}
