// What steps and codelets do on GPUs beside computing the right sums (near_field_test.cpp).

#include "near_field_cases.hpp"
#include "pinned_columns.hpp"

#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using starpu::step_options;
  using testing::AllOf;
  using testing::Each;
  using testing::Field;
  using testing::StartsWith;

  struct problem
  {
    points<double, 3> x = make_points<double, 3>(cloud::plummer, 4000);
    points<double, 1> q = make_inputs<double, 1>(4000);
    points<double, 1> out = make_columns<double, 1>(4000, -7.);
    tree<3> leaves = build_tree(x.view(), {.max_leaf_size = 40});
    leaf_groups<3> groups = group_leaves(leaves, {.leaves_per_group = 30});

    [[nodiscard]] double error()
    {
      return error_of(writable(out), reference_near_field(one_over_r<3>{}, leaves, x, x, q.view()));
    }
    [[nodiscard]] bool is_untouched() const
    {
      return out.columns[0] == make_columns<double, 1>(x.size(), -7.).columns[0];
    }
  };

  template <class Columns>
  void fill(Columns const& columns, float value)
  {
    for (int c = 0; c < columns.width(); ++c) std::fill_n(columns[c], columns.size(), value);
  }
  template <class Columns>
  void scale(Columns const& columns, float factor)
  {
    for (int c = 0; c < columns.width(); ++c)
      for (std::size_t i = 0; i < columns.size(); ++i) columns[c][i] *= factor;
  }

  TEST(starpu_step_on_gpus, runs_there_and_nowhere_else)
  {
    problem p;
    starpu::near_field step{one_runtime(), one_over_r<3>{}, p.groups,
                            p.x.view(),    p.q.view(),      writable(p.out)};
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);
    auto const ran = step.statistics();
    ASSERT_FALSE(ran.empty());
    EXPECT_THAT(ran, Each(AllOf(Field(&starpu::monitor::worker_tasks::worker, StartsWith("CUDA")),
                                Field(&starpu::monitor::worker_tasks::implementation, "cuda"))));
  }

  // A GPU has several workers: none gets two groups while another GPU has none.
  TEST(starpu_step_on_gpus, each_of_several_has_as_many_groups)
  {
    int const gpus = one_runtime().n_gpus();
    if (gpus < 2) GTEST_SKIP() << "needs two GPUs";
    problem p;
    p.groups = group_leaves(one_runtime(), p.leaves, {.groups_per_gpu = 1});
    ASSERT_EQ(p.groups.size(), static_cast<index_type>(gpus));
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      starpu::near_field step{one_runtime(), one_over_r<3>{}, p.groups,      p.x.view(),
                              p.q.view(),    writable(p.out), {.form = form}};
      for (int again = 0; again < 3; ++again)
      {
        step.submit();
        step.wait();
      }
      EXPECT_LE(p.error(), tolerance<double>);
      std::map<std::string, std::size_t> tasks; // by "CUDA 0"
      for (auto const& of : step.statistics())
        tasks[of.worker.substr(0, of.worker.find_first_of(".( ", 5))] += of.tasks;
      EXPECT_EQ(tasks.size(), static_cast<std::size_t>(gpus));
      for (auto const& [gpu, n] : tasks) EXPECT_EQ(n, 3u) << gpu;
    }
  }

  TEST(starpu_step_on_gpus, results_stay_there_until_they_are_asked_for)
  {
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      problem p;
      starpu::near_field step{one_runtime(),
                              one_over_r<3>{},
                              p.groups,
                              p.x.view(),
                              p.q.view(),
                              writable(p.out),
                              {.form = form, .delivery = step_options::on_request}};
      for (int again = 0; again < 3; ++again)
      {
        step.submit();
        step.wait();
      }
      EXPECT_TRUE(p.is_untouched());
      // twice: the first must leave the data of the step as it was
      for (int again = 0; again < 2; ++again)
      {
        step.deliver();
        step.wait();
        EXPECT_LE(p.error(), tolerance<double>);
      }
    }
  }

  TEST(starpu_step_on_gpus, new_inputs_and_positions_reach_them)
  {
    problem p;
    starpu::near_field step{one_runtime(), one_over_r<3>{}, p.groups,
                            p.x.view(),    p.q.view(),      writable(p.out)};
    step.submit();
    step.wait(); // until then tasks read the caller's columns
    for (double& value : p.q.columns[0]) value = 1 - value;
    step.inputs_changed();
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);

    // without waiting for the results
    for (int time = 0; time < 4; ++time)
    {
      for (double& value : p.q.columns[0]) value = 1 - value * 0.5;
      step.inputs_changed();
      step.submit();
      step.wait_for_inputs();
    }
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);

    // all points of two leaves to one place: pairs at distance zero, in one leaf and across
    for (int d = 0; d < 3; ++d)
      for (index_type i = 0; i < p.leaves.targets().end(1); ++i)
        p.x.columns[d][p.leaves.target_order()[i]] = 0.5;
    step.positions_changed();
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);
  }

  TEST(starpu_step_on_gpus, takes_columns_in_several_pieces)
  {
    // pieces have 2^16 points or more
    constexpr std::size_t n = 150'000;
    using K = dipole_tensor<>;
    auto const start = make_points<float, 3>(cloud::plummer, n);
    auto const charges = make_inputs<float, 2 * K::n_in>(n);
    auto const leaves = build_tree(start.view(), {.max_leaf_size = 40});
    auto const groups = group_leaves(leaves, {.gpus = 1});
    for (bool const is_pinned : {false, true})
      for (auto const& variant : {std::pair(false, step_options::every_step),
                                  {true, step_options::every_step},
                                  {false, step_options::on_request}})
      {
        // clang 14 lets no lambda have a structured binding
        bool const accumulate = variant.first;
        step_options::delivery_choice const delivery = variant.second;
        SCOPED_TRACE(testing::Message() << "pinned " << is_pinned << ", adds " << accumulate
                                        << ", delivery " << int(delivery));
        pinned_columns<float> const x(3, n, is_pinned), q(2 * K::n_in, n, is_pinned),
            out(2 * K::n_out, n, is_pinned);
        copy_columns(start.view(), x.view());
        soa<float const, 3> const positions({x.view()[0], x.view()[1], x.view()[2]}, n);
        copy_columns(charges.view(), q.view());
        starpu::near_field step{one_runtime(),
                                K{},
                                groups,
                                positions,
                                q.view(),
                                out.view(),
                                {.accumulate = accumulate, .delivery = delivery}};
        auto const expect_step = [&]
        {
          fill(out.view(), 2.f);
          step.submit();
          step.deliver(); // on request twice, with the same results
          step.deliver();
          step.wait();
          auto expected = make_columns<float, 2 * K::n_out>(n, accumulate ? 2.f : 0.f);
          near_field(simd, K{}, leaves, positions, q.view(), writable(expected),
                     {.accumulate = true});
          for (std::size_t c = 0; c < expected.columns.size(); ++c)
          {
            double error = 0, largest = 0;
            for (std::size_t i = 0; i < n; ++i)
            {
              double const value = expected.columns[c][i];
              largest = std::max(largest, std::abs(value));
              error = std::max(error, std::abs(value - double(out.view()[c][i])));
            }
            EXPECT_LE(error, 1e-5 * largest) << "column " << c;
          }
        };
        expect_step();
        scale(q.view(), -2.f);
        step.inputs_changed();
        expect_step();
        scale(x.view(), 0.98f);
        step.positions_changed();
        expect_step();
      }
  }

  TEST(starpu_step_on_gpus, points_that_have_moved_to_one_place_are_left_out_in_both_forms)
  {
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      problem p;
      starpu::near_field step{one_runtime(), one_over_r<3>{}, p.groups,      p.x.view(),
                              p.q.view(),    writable(p.out), {.form = form}};
      step.submit();
      step.wait();
      // those of one leaf and of the first of each other group: in a box, across boxes, in halos
      auto const order = p.leaves.target_order();
      auto const boxes = p.leaves.targets();
      for (int d = 0; d < 3; ++d)
      {
        for (index_type i = 0; i < boxes.end(2); ++i) p.x.columns[d][order[i]] = 0.5;
        for (index_type const leaf : p.groups.first_leaf())
          if (leaf < boxes.size()) p.x.columns[d][order[boxes.begin(leaf)]] = 0.5;
      }
      step.positions_changed();
      step.submit();
      step.wait();
      EXPECT_LE(p.error(), tolerance<double>) << "form " << int(form);

      // every point: nothing is left
      for (auto& column : p.x.columns) std::ranges::fill(column, 0.25);
      step.positions_changed();
      step.submit();
      step.wait();
      EXPECT_EQ(p.out.columns[0], std::vector<double>(p.x.size(), 0.)) << "form " << int(form);
    }
  }

  TEST(starpu_step_on_gpus, steps_may_be_submitted_before_the_last_has_ended)
  {
    problem a, b;
    starpu::near_field first{one_runtime(), one_over_r<3>{}, a.groups,
                             a.x.view(),    a.q.view(),      writable(a.out)};
    starpu::near_field second{one_runtime(), one_over_r<3>{}, b.groups,
                              b.x.view(),    b.q.view(),      writable(b.out)};
    for (int again = 0; again < 5; ++again)
    {
      first.submit();
      second.submit();
    }
    first.wait();
    second.wait();
    EXPECT_LE(a.error(), tolerance<double>);
    EXPECT_LE(b.error(), tolerance<double>);
  }

  TEST(starpu_step_on_gpus, gather_gives_the_same_bits_each_time)
  {
    points<double, 1> first;
    for (int repeat = 0; repeat < 4; ++repeat)
    {
      problem p;
      starpu::near_field step{one_runtime(),
                              one_over_r<3>{},
                              p.groups,
                              p.x.view(),
                              p.q.view(),
                              writable(p.out),
                              {.form = pair_form::one_sided}};
      step.submit();
      step.wait();
      if (repeat == 0) first = p.out;
      EXPECT_EQ(p.out.columns, first.columns);
    }
  }

  TEST(starpu_step_on_gpus, right_hand_sides_follow_each_other)
  {
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      problem p;
      points<double, 2> q{{p.q.columns[0], make_values<double>(p.x.size(), 77)}};
      auto out = make_columns<double, 2>(p.x.size(), 0.);
      starpu::near_field step{one_runtime(), one_over_r<3>{}, p.groups,      p.x.view(),
                              q.view(),      writable(out),   {.form = form}};
      step.submit();
      step.wait();
      for (std::size_t rhs = 0; rhs < 2; ++rhs)
      {
        p.q.columns[0] = q.columns[rhs];
        p.out.columns[0] = out.columns[rhs];
        EXPECT_LE(p.error(), tolerance<double>);
      }
    }
  }

  TEST(starpu_step_on_gpus, adds_to_the_outputs_where_it_is_told_to)
  {
    problem p;
    p.out = make_columns<double, 1>(p.x.size(), 0.);
    starpu::near_field step{one_runtime(),   one_over_r<3>{},     p.groups, p.x.view(), p.q.view(),
                            writable(p.out), {.accumulate = true}};
    step.submit();
    step.submit();
    step.wait();
    for (double& value : p.out.columns[0]) value /= 2;
    EXPECT_LE(p.error(), tolerance<double>);
  }

  TEST(starpu_p2p_on_gpus, tasks_on_own_handles_add_to_their_outputs)
  {
    using gradient = val_grad_one_over_r<3>;
    std::size_t const n = 300, m = 200;
    auto const x = make_points<double, 3>(cloud::uniform, n, 1);
    auto const y = make_points<double, 3>(cloud::uniform, m, 2);
    auto const xq = make_inputs<double, 1>(n, 3), yq = make_inputs<double, 1>(m, 4);
    auto const packed = [](auto const& from)
    {
      std::vector<double> all;
      for (auto const& column : from.columns) all.insert(all.end(), column.begin(), column.end());
      return all;
    };
    auto px = packed(x), py = packed(y), pxq = packed(xq), pyq = packed(yq);
    std::vector<double> x_out(n * gradient::n_out, 1.), y_out(m * gradient::n_out, 1.);
    {
      auto const hx = handle::of(px.data(), px.size()), hy = handle::of(py.data(), py.size());
      auto const hxq = handle::of(pxq.data(), n), hyq = handle::of(pyq.data(), m);
      auto const hx_out = handle::of(x_out.data(), x_out.size());
      auto const hy_out = handle::of(y_out.data(), y_out.size());
      starpu::p2p<gradient, double> p2p(gradient{}, {.backend = cuda});
      p2p.insert_inner({.x = hx, .q = hxq, .out = hx_out});
      p2p.insert_outer({.x = hx, .out = hx_out}, {.x = hy, .q = hyq});
      p2p.insert_outer_mutual({.x = hx, .q = hxq, .out = hx_out},
                              {.x = hy, .q = hyq, .out = hy_out});
      p2p.wait();
      EXPECT_EQ(p2p.statistics().front().implementation, "cuda");
    }
    auto const check = [](std::vector<double> const& out, std::size_t size, auto sums)
    {
      points<double, gradient::n_out> got;
      for (std::size_t c = 0; c < gradient::n_out; ++c)
        got.columns[c].assign(out.begin() + static_cast<std::ptrdiff_t>(c * size),
                              out.begin() + static_cast<std::ptrdiff_t>((c + 1) * size));
      add_initial(sums, 1.);
      EXPECT_LE(error_of(writable(got), sums), tolerance<double>);
    };
    auto sums = reference(gradient{}, x.view(), x.view(), xq.view(), other_points);
    auto const from_y = reference(gradient{}, x.view(), y.view(), yq.view(), all_pairs);
    for (std::size_t o = 0; o < gradient::n_out; ++o)
      for (std::size_t i = 0; i < n; ++i)
      {
        sums.value[o][i] += 2 * from_y.value[o][i];
        sums.scale[o][i] += 2 * from_y.scale[o][i];
      }
    check(x_out, n, sums);
    check(y_out, m, reference(gradient{}, y.view(), x.view(), xq.view(), all_pairs));
  }

  TEST(starpu_p2p_on_gpus, sizes_that_do_not_fit_reach_the_wait_of_raw_tasks)
  {
    std::vector<double> x(30), q(10), out(9);
    auto const hx = handle::of(x.data(), x.size()), hq = handle::of(q.data(), q.size());
    auto const hout = handle::of(out.data(), out.size());
    starpu::p2p<one_over_r<3>, double> p2p(one_over_r<3>{}, {.backend = cuda});
    EXPECT_THROW(p2p.insert_inner({.x = hx, .q = hq, .out = hout}), error);
    EXPECT_NO_THROW(p2p.wait());
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, hx.get(), STARPU_R, hq.get(), STARPU_RW,
                                     hout.get(), STARPU_CL_ARGS_NFREE, p2p.argument(),
                                     p2p.argument_size(), 0),
                  "starpu_task_insert");
    EXPECT_THROW(p2p.wait(), error);
  }
}
