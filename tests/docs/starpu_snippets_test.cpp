// What the documents show of StarPU, between markers // [name].

#include "clouds.hpp"

// [starpu_step]
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>
namespace nf = nearfield;
// [starpu_step]

// [own_graph]
#include <nearfield/starpu/p2p.hpp>
// [own_graph]

// [own_interaction]
#include <nearfield/p2p/simd.hpp>
// [own_interaction]

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

namespace
{
  // clang-format off
  // [own_interaction]
  /// exp(-|r| / length) / |r|
  struct screened
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 14;
    static constexpr auto symmetry = nf::parity::even;
    static constexpr auto name = "screened";
    double length = 1;

    template <class V>
    NEARFIELD_FN auto operator()(nf::vec<V, 3> const& r, V const& inv_r) const -> nf::mat<V, 1, 1>
    {
      return {{{inv_r * nf::exp(V(-1 / length) * (dot(r, r) * inv_r))}}};
    }
  };
  // [own_interaction]
  // clang-format on

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
    nf::starpu::near_field step{starpu, nf::grad_one_over_r<>{}, groups,
                                nf::soa{x, y, z}, nf::soa{q}, nf::soa{gx, gy, gz}};
    step.submit();
    step.wait();                                   // gx, gy, gz in the order of x, y, z
    // [starpu_step]
    // clang-format on

    std::vector<double> expected(n), ey(n), ez(n);
    nf::near_field(nf::scalar, nf::grad_one_over_r<>{}, tree, nf::soa{x, y, z}, nf::soa{q},
                   nf::soa{expected, ey, ez});
    double largest = 0;
    for (double value : expected) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(gx[i], expected[i], 1e-12 * largest);
  }

  void kick_and_drift(void** buffers, void*)
  {
    auto const column = [&](int b)
    {
      return reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[b]));
    };
    for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i)
      for (int d = 0; d < 3; ++d)
      {
        column(3 + d)[i] -= 1e-6 * column(d)[i];
        column(6 + d)[i] += 0.5 * column(3 + d)[i];
      }
  }

  TEST(docs, points_that_move)
  {
    using nf::starpu::handle;
    std::size_t const n = 700;
    int const n_steps = 3;
    std::vector<double> m(n, 1.), a[3], v[3], position[3];
    for (int d = 0; d < 3; ++d)
    {
      a[d].resize(n);
      v[d].resize(n);
      position[d] = nf::test::values(n, d + 1);
    }
    auto expected_x = position[0], expected_y = position[1], expected_z = position[2];
    nf::starpu::runtime const starpu;
    starpu_codelet integrate;
    starpu_codelet_init(&integrate);
    integrate.cpu_funcs[0] = &kick_and_drift;
    integrate.nbuffers = STARPU_VARIABLE_NBUFFERS; // more than STARPU_NMAXBUFS
    {
      auto const of = [](auto& column)
      {
        return handle::of(column.data(), column.size());
      };
      handle const masses = of(m), ax = of(a[0]), ay = of(a[1]), az = of(a[2]), vx = of(v[0]),
                   vy = of(v[1]), vz = of(v[2]), x = of(position[0]), y = of(position[1]),
                   z = of(position[2]);
      // clang-format off
      // [points_that_move]
      // x, y, z, masses, ax, ay, az, vx, vy, vz: handles of the columns of all points
      nf::starpu::moving_tree<double, 3> tree(starpu, {x, y, z}, {.max_leaf_size = 64});
      nf::starpu::near_field step{starpu, nf::grad_one_over_r<>{}, tree, {masses}, {ax, ay, az}};
      for (int time = 0; time < n_steps; ++time)
      {
        step.submit();
        starpu_task_insert(&integrate, STARPU_R, ax.get(), STARPU_R, ay.get(), STARPU_R, az.get(),
                           STARPU_RW, vx.get(), STARPU_RW, vy.get(), STARPU_RW, vz.get(),
                           STARPU_RW, x.get(), STARPU_RW, y.get(), STARPU_RW, z.get(), 0);
        tree.positions_changed();
      }
      step.wait();                                   // nothing before has waited
      // [points_that_move]
      // clang-format on
    }

    std::vector<double> gx(n), gy(n), gz(n), v_of[3];
    for (auto& column : v_of) column.resize(n);
    for (int time = 0; time < n_steps; ++time)
    {
      auto const leaves = nf::build_tree(nf::soa{expected_x, expected_y, expected_z});
      nf::near_field(nf::scalar, nf::grad_one_over_r<>{}, leaves,
                     nf::soa{expected_x, expected_y, expected_z}, nf::soa{m}, nf::soa{gx, gy, gz});
      for (std::size_t i = 0; i < n; ++i)
      {
        double const g[] = {gx[i], gy[i], gz[i]};
        double* const at[] = {&expected_x[i], &expected_y[i], &expected_z[i]};
        for (int d = 0; d < 3; ++d) *at[d] += 0.5 * (v_of[d][i] -= 1e-6 * g[d]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(position[0][i], expected_x[i], 1e-9);
    EXPECT_NE(position[0], nf::test::values(n, 1));
  }

  TEST(docs, own_graph)
  {
    using nf::starpu::handle;
    std::size_t const n = 300, m = 200;
    auto x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3),
         q = nf::test::values(n, 4), x2 = nf::test::values(m, 5), y2 = nf::test::values(m, 6),
         z2 = nf::test::values(m, 7), q2 = nf::test::values(m, 8);
    std::vector<double> phi(n), phi2(m), expected(n), expected2(m);
    nf::starpu::runtime const starpu;
    std::unique_ptr<std::remove_pointer_t<starpu_arbiter_t>, void (*)(starpu_arbiter_t)>
        destroy_at_end(nullptr, &starpu_arbiter_destroy);
    {
      auto const of = [](auto& column)
      {
        return handle::of(column.data(), column.size());
      };
      handle const ax = of(x), ay = of(y), az = of(z), aq = of(q), aphi = of(phi);
      handle const bx = of(x2), by = of(y2), bz = of(z2), bq = of(q2), bphi = of(phi2);
      starpu_data_handle_t const hx = ax, hy = ay, hz = az, hq = aq, hphi = aphi;
      starpu_data_handle_t const tx = bx, ty = by, tz = bz, tq = bq, tphi = bphi;
      // clang-format off
      // [own_arbiter]
      starpu_arbiter_t const arbiter = starpu_arbiter_create();
      starpu_data_assign_arbiter(hphi, arbiter);      // right after it was registered, before any task
      starpu_data_assign_arbiter(tphi, arbiter);
      // [own_arbiter]
      destroy_at_end.reset(arbiter);
      // [own_graph]

      // hx, hy, hz, hq, hphi: starpu_data_handle_t, vectors of the columns of a box; tx ...: of another box
      nf::starpu::p2p<nf::one_over_r<>, double> p2p;     // its destructor waits for these tasks
      nf::starpu::box_handles const here{.x = {hx, hy, hz}, .q = {hq}, .out = {hphi}};
      p2p.insert_inner(here, {.tag = 41});
      p2p.insert_outer_mutual(here, {.x = {tx, ty, tz}, .q = {tq}, .out = {tphi}},
                              {.priority = 1, .tag = 42, .after = {41}});
      p2p.wait();             // for all tasks, yours too; or wait as you do, and then p2p.rethrow()
      // [own_graph]
      nf::p2p_inner(nf::scalar, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{expected});

      // [own_graph_raw]
      starpu_task_insert(p2p.inner(), STARPU_R, hx, STARPU_R, hy, STARPU_R, hz, STARPU_R, hq,
                         STARPU_RW | STARPU_COMMUTE, hphi,
                         STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size(),
                         STARPU_PRIORITY, 1, 0);
      // [own_graph_raw]
      p2p.wait();
      nf::p2p_inner(nf::scalar, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{expected});

      // [own_back_ends]
      nf::starpu::p2p<screened, double> own(screened{.length = 2}, {.backend = {nf::simd, nf::scalar}});
      // [own_back_ends]
      // clang-format on
      own.insert_inner(here);
      own.wait();
      nf::p2p_inner(nf::scalar, screened{.length = 2}, nf::soa{x, y, z}, nf::soa{q},
                    nf::soa{expected});
    }
    nf::p2p_outer_mutual(nf::scalar, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{x2, y2, z2},
                         nf::soa{q}, nf::soa{q2}, nf::soa{expected}, nf::soa{expected2});
    double largest = 0;
    for (double const value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(phi[i], expected[i], 1e-12 * largest);
    for (std::size_t i = 0; i < m; ++i) EXPECT_NEAR(phi2[i], expected2[i], 1e-12 * largest);
  }

  TEST(docs, pair_slabs)
  {
    std::size_t const n = 500;
    auto x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3);
    nf::starpu::runtime const starpu;
    double const cutoff = 0.2;
    auto const hx = nf::starpu::handle::of(x.data(), n), hy = nf::starpu::handle::of(y.data(), n),
               hz = nf::starpu::handle::of(z.data(), n);
    auto const use = [](starpu_data_handle_t i, starpu_data_handle_t j)
    {
      EXPECT_TRUE(i && j);
    };
    // clang-format off
    // [pair_slabs]
    nf::starpu::pair_slabs<double, 3> list{starpu, {hx, hy, hz}, cutoff};   // handles of x, y, z; tasks count
    list.fill();                                    // tasks list them
    for (std::size_t s = 0; s < list.size(); ++s)
      if (list.n_pairs(s) > 0) use(list.i(s), list.j(s));   // null without pairs; ask again after each fill()
    // your tasks move the points
    list.recount();                                 // sort and count again
    // [pair_slabs]
    // clang-format on

    nf::coo<double, 3> found;
    list.to_host(found);
    nf::cell_list const cells{nf::soa{x, y, z}, cutoff};
    auto const expected = nf::radius_search(nf::simd, cells, nf::to_coo{});
    EXPECT_GT(expected.size(), n);
    EXPECT_TRUE(std::ranges::equal(found.i, expected.i));
    EXPECT_TRUE(std::ranges::equal(found.j, expected.j));

    nf::cell<3> const box{.vectors = {{{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1}}},
                          .periodic = {true, true, false}};
    std::vector<nf::index_type> type(n);
    for (std::size_t k = 0; k < n; ++k) type[k] = k % 2;
    std::vector<double> const by_type{cutoff, cutoff / 2, cutoff / 2, 0};
    // clang-format off
    // [pair_slab_columns]
    nf::starpu::pair_slabs<double, 3> in_box{starpu, {hx, hy, hz}, cutoff,
        {.grid = {.cell = box}, .images = nf::image_columns::counters,
         .filter = nf::pair_filter<double>{.types = type, .type_cutoffs = by_type}}};
    in_box.fill();
    for (std::size_t s = 0; s < in_box.size(); ++s)
      if (in_box.n_pairs(s) > 0) use(in_box.j(s), in_box.images(s, 0));   // S along axis 0
    // [pair_slab_columns]
    // clang-format on
    in_box.to_host(found);
    nf::cell_list const cells_in_box{nf::soa{x, y, z}, cutoff, {.cell = box}};
    nf::filtered const some{cells_in_box, {.types = type, .type_cutoffs = by_type}};
    auto const images =
        nf::radius_search(nf::simd, some, nf::to_coo{.images = nf::image_columns::counters});
    EXPECT_GT(images.size(), 0u);
    EXPECT_TRUE(std::ranges::equal(found.j, images.j));
    EXPECT_TRUE(std::ranges::equal(found.images[1], images.images[1]));
  }
}
