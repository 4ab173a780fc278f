// P2P tasks in a graph of the user's own: data in other layouts, beside other codelets, interactions and
// precisions, and everything that StarPU lets a task say.

#include "environment.hpp"
#include "own_graph.hpp"

#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using testing::AllOf;
  using testing::HasSubstr;
  using K = val_grad_one_over_r<3>;

  // one program runs everything on CPUs, another what it can on GPUs
#ifdef NEARFIELD_TEST_CUDA
  constexpr backend where = backend::cuda;
#else
  constexpr backend where = backend::automatic;
#endif
  constexpr auto commute = static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);

  TEST(starpu_own_graph, columns_have_handles_of_their_own)
  {
    own_columns<K, double> a(300, 1), b(170, 2);
    auto const &ax = a.hx, &aq = a.hq, &aout = a.hout;
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    p2p.insert_inner({.x = {a.hx[0], a.hx[1], a.hx[2]},
                      .q = {a.hq[0]},
                      .out = {a.hout[0], a.hout[1], a.hout[2], a.hout[3]}});
    p2p.insert_outer({.x = ax, .out = aout}, {.x = b.hx, .q = b.hq});
    p2p.insert_outer_mutual({.x = ax, .q = aq, .out = aout}, b.box());
    p2p.wait();
    EXPECT_LE(a.error(a.from_itself() + a.from(b) + a.from(b)), tolerance<double>);
    EXPECT_LE(b.error(b.from(a)), tolerance<double>);
  }

  TEST(starpu_own_graph, columns_may_be_inserted_raw)
  {
    own_columns<K, double> a(200, 3);
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, a.hq[0].get(), STARPU_RW,
                                     a.hout[0].get(), STARPU_RW, a.hout[1].get(), commute,
                                     a.hout[2].get(), commute, a.hout[3].get(),
                                     STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size(), 0),
                  "starpu_task_insert");
    p2p.wait();
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
  }

  TEST(starpu_own_graph, several_right_hand_sides_are_columns_behind_one_another)
  {
    // b and c: other charges and outputs of the points of a. Of so many handles not all are inline
    own_columns<K, double> a(120, 4), b(120, 5), c(120, 6);
    std::vector<starpu_data_handle_t> q, out;
    for (auto const* const of : {&a, &b, &c})
    {
      q.insert(q.end(), of->hq.begin(), of->hq.end());
      out.insert(out.end(), of->hout.begin(), of->hout.end());
    }
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    p2p.insert_inner({.x = a.hx, .q = q, .out = out});
    p2p.wait();
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
    for (auto* const other : {&b, &c})
      EXPECT_LE(other->error(reference(K(), a.x.view(), a.x.view(), other->q.view(), other_points)),
                tolerance<double>);
  }

  TEST(starpu_own_graph, variables_hold_packed_columns)
  {
    std::size_t const n = 90;
    own_columns<K, double> a(n, 6);
    std::vector<double> x, out(4 * n, 1.);
    for (auto const& column : a.x.columns) x.insert(x.end(), column.begin(), column.end());
    starpu_data_handle_t hx, hq, hout;
    auto const variable = [](starpu_data_handle_t& to, std::vector<double>& of)
    {
      starpu_variable_data_register(&to, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(of.data()),
                                    of.size() * sizeof(double));
    };
    variable(hx, x);
    variable(hq, a.q.columns[0]);
    variable(hout, out);
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    p2p.insert_inner({.x = hx, .q = hq, .out = hout});
    p2p.wait();
    for (starpu_data_handle_t const each : {hx, hq, hout}) starpu_data_unregister(each);
    for (std::size_t c = 0; c < 4; ++c)
      std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(c * n), n, a.out.columns[c].begin());
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
  }

  TEST(starpu_own_graph, columns_may_be_cut_by_starpu)
  {
    // two blocks of one set: StarPU's own filter cuts every column
    own_columns<K, double> all(400, 7);
    starpu_data_filter halves{};
    halves.filter_func = starpu_vector_filter_block;
    halves.nchildren = 2;
    std::vector<std::vector<starpu_data_handle_t>> x(2), q(2), out(2);
    std::vector<starpu_data_handle_t> whole;
    auto const cut = [&](std::vector<handle> const& columns, auto& parts)
    {
      for (handle const& column : columns)
      {
        starpu_data_partition(column, &halves);
        whole.push_back(column);
        for (unsigned part : {0u, 1u})
          parts[part].push_back(starpu_data_get_sub_data(column, 1, part));
      }
    };
    cut(all.hx, x);
    cut(all.hq, q);
    cut(all.hout, out);
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    for (int part : {0, 1}) p2p.insert_inner({.x = x[part], .q = q[part], .out = out[part]});
    p2p.insert_outer_mutual({.x = x[0], .q = q[0], .out = out[0]},
                            {.x = x[1], .q = q[1], .out = out[1]});
    p2p.wait();
    for (starpu_data_handle_t const column : whole)
      starpu_data_unpartition(column, STARPU_MAIN_RAM);
    EXPECT_LE(all.error(all.from_itself()), tolerance<double>);
  }

  /// out += 1, somebody's own codelet
  void add_one(void** buffers, void*)
  {
    auto* const values = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[0]));
    for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i) values[i] += 1;
  }
  starpu_codelet* add_one_codelet()
  {
    static starpu_codelet made = []
    {
      starpu_codelet codelet;
      starpu_codelet_init(&codelet);
      codelet.cpu_funcs[0] = &add_one;
      codelet.nbuffers = 1;
      codelet.modes[0] = commute;
      codelet.name = "add_one";
      return codelet;
    }();
    return &made;
  }

  TEST(starpu_own_graph, other_codelets_add_to_the_same_outputs)
  {
    constexpr int n_clusters = 4, rounds = 5;
    // one for everything that commutes; it is the user's
    std::unique_ptr<std::remove_pointer_t<starpu_arbiter_t>, void (*)(starpu_arbiter_t)> const
        arbiter(starpu_arbiter_create(), &starpu_arbiter_destroy);
    std::vector<own_columns<K, double>> all;
    for (std::uint64_t c = 0; c < n_clusters; ++c)
      all.emplace_back(40 + 9 * c, c + 1, arbiter.get());
    starpu::p2p<K, double> p2p(K(), {.backend = where});
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < n_clusters; ++i)
      {
        for (handle const& output : all[i].hout)
          starpu::check(starpu_task_insert(add_one_codelet(), commute, output.get(), 0), "add_one");
        for (int j = i + 1; j < n_clusters; ++j)
          p2p.insert_outer_mutual(all[i].box(), all[j].box());
      }
    p2p.wait();
    for (int i = 0; i < n_clusters; ++i)
    {
      auto expected = reference(K(), all[i].x.view(), all[i].x.view(), all[i].q.view(),
                                [](auto, auto) { return false; });
      for (int j = 0; j < n_clusters; ++j)
        for (int round = 0; j != i && round < rounds; ++round)
          expected = expected + all[i].from(all[j]);
      add_initial(expected, double(rounds));
      EXPECT_LE(all[i].error(expected), tolerance<double>) << "cluster " << i;
    }
  }

  void set_zero(void** buffers, void*)
  {
    auto* const values = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[0]));
    std::fill_n(values, STARPU_VECTOR_GET_NX(buffers[0]), 0.);
  }
  void add_vectors(void** buffers, void*)
  {
    auto* const to = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[0]));
    auto const* const from = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[1]));
    for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i) to[i] += from[i];
  }

  TEST(starpu_own_graph, outputs_may_be_reduced)
  {
#ifdef NEARFIELD_TEST_CUDA
    GTEST_SKIP()
        << "StarPU starts a reduction on each worker, those of GPUs too: it needs kernels there";
#endif
    using one = one_over_r<3>;
    static starpu_codelet zero, add;
    starpu_codelet_init(&zero);
    zero.cpu_funcs[0] = &set_zero;
    zero.nbuffers = 1;
    zero.modes[0] = STARPU_W;
    starpu_codelet_init(&add);
    add.cpu_funcs[0] = &add_vectors;
    add.nbuffers = 2;
    add.modes[0] = STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION > 3 ? commute : STARPU_RW;
    add.modes[1] = STARPU_R;

    own_columns<one, double> a(150, 8), b(60, 9);
    starpu_data_set_reduction_methods(a.hout[0], &add, &zero);
    starpu::p2p<one, double> p2p; // init and reduction run on CPUs
    constexpr int times = 6;
    for (int t = 0; t < times; ++t)
      starpu::check(starpu_task_insert(
                        p2p.outer(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(), STARPU_R,
                        a.hx[2].get(), STARPU_R, b.hx[0].get(), STARPU_R, b.hx[1].get(), STARPU_R,
                        b.hx[2].get(), STARPU_R, b.hq[0].get(), STARPU_REDUX, a.hout[0].get(), 0),
                    "starpu_task_insert");
    one_runtime().wait();
    auto expected = a.from(b);
    for (int t = 1; t < times; ++t) expected = expected + a.from(b);
    EXPECT_LE(a.error(expected), tolerance<double>);
  }

  TEST(starpu_own_graph, two_interactions_add_to_one_output)
  {
    own_columns<one_over_r<3>, double> a(250, 12);
    gaussian<3> const wide{.sigma = 0.5};
    starpu::p2p<one_over_r<3>, double> first({}, {.backend = where});
    starpu::p2p<gaussian<3>, double> second(wide, {.backend = where});
    first.insert_inner(a.box());
    second.insert_inner(a.box());
    first.wait();
    EXPECT_NO_THROW(second.rethrow());
    EXPECT_LE(a.error(a.from_itself() +
                      reference(wide, a.x.view(), a.x.view(), a.q.view(), other_points)),
              tolerance<double>);
  }

  TEST(starpu_own_graph, interactions_and_precisions_share_a_graph)
  {
    own_columns<K, double> a(250, 10);
    own_columns<one_over_r<3>, double> b(250, 10);
    own_columns<gaussian<3>, float> c(250, 10);
    gaussian<3> const wide{.sigma = 0.5};
    auto const& x = a.hx;
    starpu::p2p<K, double> first(K(), {.backend = where});
    starpu::p2p<one_over_r<3>, double> second({}, {.backend = scalar});
    starpu::p2p<gaussian<3>, float> third(wide, {.backend = {scalar, simd}});

    // and a whole step of the library beside them
    auto const tree = build_tree(a.x.view(), {.max_leaf_size = 40});
    auto const groups = group_leaves(one_runtime(), tree);
    auto out = make_columns<double, 4>(a.x.size(), 0.);
    starpu::near_field step{one_runtime(), K(), groups, a.x.view(), a.q.view(), writable(out)};

    step.submit();
    first.insert_inner({.x = x, .q = a.hq, .out = a.hout});
    second.insert_inner({.x = x, .q = b.hq, .out = b.hout}); // its points are those of the first
    third.insert_inner(c.box());
    step.wait();
    starpu_task_wait_for_all();
    EXPECT_NO_THROW(first.rethrow());
    EXPECT_NO_THROW(second.rethrow());
    EXPECT_NO_THROW(third.rethrow());
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
    EXPECT_LE(b.error(b.from_itself()), tolerance<double>);
    EXPECT_LE(c.error(c.from_itself(wide)), tolerance<float>);
    EXPECT_LE(error_of(writable(out), reference_near_field(K(), tree, a.x, a.x, a.q.view())),
              tolerance<double>);
    ASSERT_FALSE(second.statistics().empty());
    for (auto const& entry : second.statistics()) EXPECT_EQ(entry.implementation, "scalar");
  }

#ifdef NEARFIELD_TEST_CUDA
  TEST(starpu_own_graph, a_set_of_back_ends_runs_no_other)
  {
    own_columns<K, double> a(300, 11);
    starpu::p2p<K, double> p2p(K(), {.backend = {scalar, cuda}});
    auto expected = a.from_itself();
    p2p.insert_inner(a.box());
    for (int t = 0; t < 30; ++t, expected = expected + a.from_itself()) p2p.insert_inner(a.box());
    p2p.wait();
    for (auto const& entry : p2p.statistics())
      EXPECT_THAT(entry.implementation, testing::AnyOf("scalar", "cuda"));
    EXPECT_LE(a.error(expected), tolerance<double>);
  }
#endif
}
