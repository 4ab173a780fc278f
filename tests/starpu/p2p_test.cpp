// P2P tasks on handles of the user's own.

#include "near_field_cases.hpp"

#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using testing::HasSubstr;
  using K = val_grad_one_over_r<3>;

  /// Points in the layout of a handle: column after column.
  struct cluster
  {
    points<double, 3> x;
    points<double, 1> q;
    points<double, K::n_out> out;
    std::vector<double> packed_x, packed_out;
    handle hx, hq, hout;

    cluster(std::size_t n, std::uint64_t seed)
        : x(make_points<double, 3>(cloud::uniform, n, seed)), q(make_inputs<double, 1>(n, seed)),
          out(make_columns<double, K::n_out>(n, 0.)), packed_out(n * K::n_out, 1.)
    {
      for (auto const& column : x.columns)
        packed_x.insert(packed_x.end(), column.begin(), column.end());
      hx = handle::of(packed_x.data(), packed_x.size());
      hq = handle::of(q.columns[0].data(), n);
      hout = handle::of(packed_out.data(), packed_out.size());
    }

    [[nodiscard]] starpu::box_handles box() const { return {.x = hx, .q = hq, .out = hout}; }

    /// What tasks have added to the outputs, which were 1.
    double error(reference_sums<K::n_out> sums)
    {
      hout = handle();
      for (std::size_t c = 0; c < K::n_out; ++c)
        for (std::size_t i = 0; i < x.size(); ++i) out.columns[c][i] = packed_out[c * x.size() + i];
      add_initial(sums, 1.);
      return error_of(writable(out), sums);
    }
    [[nodiscard]] auto from(cluster const& other) const
    {
      return reference(K{}, x.view(), other.x.view(), other.q.view(), all_pairs);
    }
    [[nodiscard]] auto from_itself() const
    {
      return reference(K{}, x.view(), x.view(), q.view(), other_points);
    }
  };

  reference_sums<K::n_out> sum(reference_sums<K::n_out> a, reference_sums<K::n_out> const& b)
  {
    for (int o = 0; o < K::n_out; ++o)
      for (std::size_t i = 0; i < a.value[o].size(); ++i)
      {
        a.value[o][i] += b.value[o][i];
        a.scale[o][i] += b.scale[o][i];
      }
    return a;
  }

  TEST(starpu_p2p, tasks_on_own_handles_add_to_their_outputs)
  {
    cluster a(300, 1), b(170, 2);
    starpu::p2p<K, double> p2p;
    p2p.insert_inner(a.box());
    p2p.insert_outer({.x = a.hx, .out = a.hout}, {.x = b.hx, .q = b.hq});
    p2p.insert_inner(b.box());
    p2p.wait();
    EXPECT_LE(a.error(sum(a.from_itself(), a.from(b))), tolerance<double>);
    EXPECT_LE(b.error(b.from_itself()), tolerance<double>);
    std::uint64_t tasks = 0;
    for (auto const& entry : p2p.statistics()) tasks += entry.tasks;
    EXPECT_EQ(tasks, 3u);
  }

  TEST(starpu_p2p, mutual_tasks_share_an_arbiter)
  {
    starpu_arbiter_t const arbiter = starpu_arbiter_create();
    {
      std::vector<cluster> all;
      for (std::uint64_t c = 0; c < 5; ++c) all.emplace_back(60 + 10 * c, c + 1);
      for (cluster& c : all) starpu_data_assign_arbiter(c.hout, arbiter);
      starpu::p2p<K, double> p2p(K{}, {.backend = scalar});
      for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j)
          p2p.insert_outer_mutual(all[i].box(), all[j].box());
      p2p.wait();
      for (std::size_t i = 0; i < all.size(); ++i)
      {
        reference_sums<K::n_out> expected;
        bool first = true;
        for (std::size_t j = 0; j < all.size(); ++j)
          if (j != i)
          {
            expected = first ? all[i].from(all[j]) : sum(expected, all[i].from(all[j]));
            first = false;
          }
        EXPECT_LE(all[i].error(expected), tolerance<double>) << "cluster " << i;
      }
    }
    starpu_arbiter_destroy(arbiter);
  }

  TEST(starpu_p2p, codelets_may_be_inserted_raw)
  {
    cluster a(200, 3), b(100, 4);
    starpu::p2p<K, double> p2p;
    starpu::check(starpu_task_insert(p2p.outer(), STARPU_R, a.hx.get(), STARPU_R, b.hx.get(),
                                     STARPU_R, b.hq.get(), STARPU_RW | STARPU_COMMUTE, a.hout.get(),
                                     0),
                  "starpu_task_insert");
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx.get(), STARPU_R, a.hq.get(),
                                     STARPU_RW | STARPU_COMMUTE, a.hout.get(), STARPU_CL_ARGS_NFREE,
                                     p2p.argument(), p2p.argument_size(), 0),
                  "starpu_task_insert");
    one_runtime().wait();
    p2p.wait();
    EXPECT_LE(a.error(sum(a.from_itself(), a.from(b))), tolerance<double>);
  }

  TEST(starpu_p2p, parameters_travel_with_the_task)
  {
    auto const x = make_points<float, 2>(cloud::uniform, 150);
    auto q = make_values<float>(x.size());
    std::vector<float> packed, out(x.size(), 0.f);
    for (auto const& column : x.columns) packed.insert(packed.end(), column.begin(), column.end());
    gaussian<2> const k{.sigma = 0.3};
    {
      handle const hx = handle::of(packed.data(), packed.size());
      handle const hq = handle::of(q.data(), q.size()), hout = handle::of(out.data(), out.size());
      starpu::p2p<gaussian<2>, float> p2p(k);
      p2p.insert_inner({.x = hx, .q = hq, .out = hout});
      p2p.wait();
    }
    EXPECT_LE(error_of(soa{out},
                       reference(k, x.view(), x.view(), soa<float const, 1>(soa{q}), other_points)),
              tolerance<float>);
  }

  TEST(starpu_p2p, sets_without_points_contribute_and_receive_nothing)
  {
    cluster a(50, 7), none(0, 8);
    starpu::p2p<K, double> p2p;
    p2p.insert_inner(none.box());
    p2p.insert_outer({.x = a.hx, .out = a.hout}, {.x = none.hx, .q = none.hq});
    p2p.insert_outer({.x = none.hx, .out = none.hout}, {.x = a.hx, .q = a.hq});
    p2p.insert_outer_mutual(a.box(), none.box());
    EXPECT_NO_THROW(p2p.wait());
    EXPECT_EQ(a.packed_out, std::vector<double>(50 * K::n_out, 1.));
    EXPECT_THROW(p2p.insert_inner({.x = none.hx, .q = a.hq, .out = none.hout}), error);
  }

  /// The microseconds that schedulers expect of a CPU worker.
  double expected(starpu_codelet* codelet, std::initializer_list<starpu_data_handle_t> handles)
  {
    starpu_task* const raw = starpu_task_create();
    raw->cl = codelet;
    raw->nbuffers = static_cast<int>(handles.size());
    int buffer = 0;
    for (starpu_data_handle_t const handle : handles)
    {
      raw->handles[buffer] = handle;
      raw->modes[buffer++] = STARPU_RW;
    }
    double const found = starpu_task_expected_length(
        raw, starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS), 0);
    raw->destroy = 0;
    starpu_task_destroy(raw);
    return found;
  }

  TEST(starpu_p2p, schedulers_expect_time_for_the_pairs_of_all_right_hand_sides)
  {
    cluster const a(300, 9), b(200, 10), none(0, 11);
    std::vector<double> out_values(300 * 3 * K::n_out), out_b_values(200 * 3 * K::n_out),
        q(300 * 3);
    handle const out = handle::of(out_values.data(), out_values.size());
    handle const out_b = handle::of(out_b_values.data(), out_b_values.size());
    handle const qa = handle::of(q.data(), 300 * 3), qb = handle::of(q.data(), 200 * 3);
    starpu::p2p<K, double> const p2p;
    double const without_pairs = expected(p2p.inner(), {none.hx, none.hq, none.hout});
    EXPECT_GT(without_pairs, 0);
    auto const for_pairs =
        [&](starpu_codelet* codelet, std::initializer_list<starpu_data_handle_t> of)
    {
      return expected(codelet, of) - without_pairs;
    };
    double const of_one_pair = for_pairs(p2p.inner(), {a.hx, a.hq, a.hout}) / (300 * 299);
    EXPECT_GT(of_one_pair, 0);
    EXPECT_LT(of_one_pair, 0.1);
    EXPECT_NEAR(for_pairs(p2p.inner(), {a.hx, qa, out}) / of_one_pair, 3 * 300 * 299, 1);
    EXPECT_NEAR(for_pairs(p2p.outer(), {a.hx, b.hx, qb, out}) / of_one_pair, 3 * 300 * 200, 1);
    EXPECT_NEAR(for_pairs(p2p.outer_mutual(), {a.hx, b.hx, qa, qb, out, out_b}) / of_one_pair,
                3 * 2 * 300 * 200, 1);
  }

  TEST(starpu_p2p, scalar_codelets_ask_for_no_instruction_set)
  {
    char const* const wanted = std::getenv("NEARFIELD_ISA");
    if (!wanted || std::string_view(wanted) != "nonsense")
      GTEST_SKIP() << "needs NEARFIELD_ISA=nonsense";
    EXPECT_THROW((starpu::p2p<K, double>()), error);
    cluster a(50, 11);
    starpu::p2p<K, double> p2p(K{}, {.backend = scalar});
    p2p.insert_inner(a.box());
    p2p.wait();
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
  }

  TEST(starpu_handle, of_more_values_than_a_vector_has_is_refused)
  {
    try
    {
      handle::of_size<char>(std::size_t(1) << 32);
      ADD_FAILURE() << "a handle was made";
    }
    catch (error const& failure)
    {
      EXPECT_THAT(failure.what(), HasSubstr("found 4294967296 values"));
    }
  }

  TEST(starpu_handle, of_order_lets_writers_wait_for_readers)
  {
    static std::atomic<int> n_read = 0, n_read_before = -1;
    starpu_codelet reader, writer;
    for (starpu_codelet* const one : {&reader, &writer})
    {
      starpu_codelet_init(one);
      one->nbuffers = 1;
    }
    reader.modes[0] = STARPU_R;
    reader.cpu_funcs[0] = [](void**, void*)
    {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++n_read;
    };
    writer.modes[0] = STARPU_RW;
    writer.cpu_funcs[0] = [](void**, void*)
    {
      n_read_before = n_read.load();
    };
    handle const order = handle::of_order();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(starpu_task_insert(&reader, STARPU_R, order.get(), 0), 0);
    ASSERT_EQ(
        starpu_task_insert(&writer, STARPU_RW, order.get(), STARPU_PRIORITY, STARPU_MAX_PRIO, 0),
        0);
    starpu_task_wait_for_all();
    EXPECT_EQ(n_read_before, 3);
  }

  TEST(starpu_p2p, sizes_that_do_not_fit_reach_the_wait_of_raw_tasks)
  {
    cluster a(50, 5), b(40, 6);
    starpu::p2p<K, double> p2p;
    EXPECT_THROW(p2p.insert_inner({.x = a.hx, .q = b.hq, .out = a.hout}), error);
    EXPECT_NO_THROW(p2p.wait());

    // one that was inserted without an argument reports to the runtime
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx.get(), STARPU_R, b.hq.get(),
                                     STARPU_RW | STARPU_COMMUTE, a.hout.get(), 0),
                  "starpu_task_insert");
    try
    {
      one_runtime().wait();
      ADD_FAILURE() << "wait returned";
    }
    catch (error const& failure)
    {
      EXPECT_THAT(failure.what(), HasSubstr("p2p_inner: q has 40 values"));
    }
    EXPECT_NO_THROW(one_runtime().wait());
    EXPECT_NO_THROW(p2p.wait());
  }
}
