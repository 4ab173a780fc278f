// How a step behaves: time loops, accumulation, exceptions, odd sizes, bad arguments.

#include "busy_workers.hpp"
#include "environment.hpp"
#include "kernels/src/p2p/plan.hpp"
#include "p2p/own_interactions.hpp"
#include "runtime/src/list_tasks.hpp"
#include "step_problem.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using testing::HasSubstr;

  TEST(starpu_step, changed_inputs_are_read_when_said_so)
  {
    for (pair_form const form : pair_forms)
    {
      problem p(900);
      // one implementation: a scheduler may choose another one each time, which differs in the last bits
      auto step = p.step({.form = form, .backend = simd});
      for (std::uint64_t time = 0; time < 4; ++time)
      {
        std::ranges::copy(make_values<double>(p.q.size(), 10 + time), p.q.begin());
        step.inputs_changed();
        step.submit();
        step.wait();
        EXPECT_LE(p.error(), tolerance<double>) << "time " << time;
      }
      auto const before = p.out;
      std::ranges::copy(make_values<double>(p.q.size(), 20), p.q.begin());
      step.submit();
      step.wait();
      EXPECT_EQ(p.out, before) << "read without inputs_changed";
    }
  }

  TEST(starpu_step, inputs_may_change_while_steps_that_have_read_them_run)
  {
    for (pair_form const form : pair_forms)
    {
      problem p(3000, 20);
      p.out.assign(p.out.size(), 0.);
      auto step = p.step({.accumulate = true, .form = form});
      reference_sums<1> sums;
      for (std::uint64_t time = 0; time < 5; ++time)
      {
        std::ranges::copy(make_values<double>(p.q.size(), 30 + time), p.q.begin());
        step.inputs_changed();
        step.submit();
        step.wait_for_inputs();
        auto const more = p.expected();
        if (time == 0)
          sums = more;
        else
          for (std::size_t i = 0; i < p.q.size(); ++i)
          {
            sums.value[0][i] += more.value[0][i];
            sums.scale[0][i] += more.scale[0][i];
          }
        std::ranges::fill(p.q, 1e30);
      }
      step.wait();
      EXPECT_LE(error_of(soa{p.out}, sums), tolerance<double>);
    }
  }

  TEST(starpu_step, wait_for_inputs_without_submit_returns)
  {
    problem p(100);
    auto step = p.step();
    step.wait_for_inputs();
  }

  /// An interaction of a user's own, whose tasks stop where they begin, while the gate is closed. It has no
  /// symmetry, since compiling a mutual form takes seconds.
  struct gated
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 8;
    static constexpr auto name = "gated";
    static inline std::atomic<bool> closed = false, waited_in_vain = false;

    gated() = default;
    gated(gated const&)
    {
      auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (closed)
      {
        if (std::chrono::steady_clock::now() > deadline) waited_in_vain = true, closed = false;
        std::this_thread::yield();
      }
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{dot(r, r)}}};
    }
  };

  TEST(starpu_step, new_inputs_are_read_beside_the_tasks_of_the_step_before)
  {
    // one worker is stopped; schedulers that choose the worker beforehand might choose that one
    bool const may_move =
        std::set<std::string>{"", "lws", "eager"}.contains(one_runtime().scheduler());
    if (one_runtime().n_workers() < 2 || !may_move)
      GTEST_SKIP() << "needs two workers, lws or eager";
    problem p(500, 1'000'000);
    starpu::near_field step{one_runtime(), gated{}, p.groups, p.x.view(), soa{p.q}, soa{p.out}};
    ASSERT_EQ(step.n_tasks(), 1u);
    gated::closed = true;
    step.submit();
    step.inputs_changed();
    step.submit();
    step.wait_for_inputs();
    EXPECT_EQ(p.out.front(), -3.) << "the gate holds nothing back";
    EXPECT_FALSE(gated::waited_in_vain);
    gated::closed = false;
    step.wait();
  }

  TEST(starpu_step, changed_positions_are_read_when_said_so)
  {
    for (pair_form const form : pair_forms)
    {
      problem p(900);
      auto step = p.step({.form = form});
      step.submit();
      step.wait();
      for (int time = 1; time < 4; ++time)
      {
        for (auto& column : p.x.columns)
          for (double& coordinate : column) coordinate *= 1.01;
        step.positions_changed();
        step.submit();
        step.wait();
        EXPECT_LE(p.error(), tolerance<double>) << "time " << time;
      }
    }
  }

  TEST(starpu_step, points_that_have_moved_to_one_place_contribute_nothing)
  {
    for (pair_form const form : pair_forms)
    {
      problem p(900);
      auto step = p.step({.form = form});
      step.submit();
      step.wait();
      // every leaf's points meet in the middle
      for (auto& column : p.x.columns) std::ranges::fill(column, 0.5);
      step.positions_changed();
      step.submit();
      step.wait();
      EXPECT_EQ(p.out, std::vector<double>(900, 0.));
    }
  }

  // The tasks of the last step read what this changes: a race, which ThreadSanitizer reports too.
  TEST(starpu_step, positions_change_when_the_tasks_before_have_ended)
  {
    problem p(900);
    auto step = p.step({.backend = simd});
    std::atomic<bool> may_end = false;
    busy_workers workers;
    step.submit();
    std::jthread const lets_them_end(
        [&]
        {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          may_end = true;
          workers.let_go();
        });
    step.positions_changed();
    EXPECT_TRUE(may_end) << "it did not wait";
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);
  }

  TEST(starpu_step, accumulates_where_it_is_told_to)
  {
    for (pair_form const form : pair_forms)
    {
      problem p(700);
      p.out.assign(p.out.size(), 2.);
      auto step = p.step({.accumulate = true, .form = form});
      step.submit();
      step.wait();
      auto sums = p.expected();
      add_initial(sums, 2.);
      EXPECT_LE(error_of(soa{p.out}, sums), tolerance<double>);
    }
  }

  TEST(starpu_step, several_steps_may_be_under_way)
  {
    problem first(800), second(500);
    auto a = first.step();
    auto b = second.step({.form = pair_form::one_sided});
    a.submit();
    b.submit();
    a.submit();
    b.wait();
    EXPECT_LE(second.error(), tolerance<double>);
    a.wait();
    EXPECT_LE(first.error(), tolerance<double>);
  }

  TEST(starpu_step, wait_without_submit_returns)
  {
    problem p(100);
    auto step = p.step();
    step.wait();
    EXPECT_EQ(p.out, std::vector<double>(100, -3.));
  }

  TEST(starpu_step, may_be_destroyed_while_it_runs)
  {
    problem p(3000);
    for (pair_form const form : pair_forms) p.step({.form = form}).submit();
    // the tasks have ended: nothing writes to these any more
    p.out.assign(p.out.size(), 1.);
    auto step = p.step();
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);
  }

  TEST(starpu_step, empty_sets_and_single_points)
  {
    for (std::size_t const n : {0, 1, 2})
      for (pair_form const form : pair_forms)
      {
        problem p(n);
        auto step = p.step({.form = form});
        step.submit();
        step.wait();
        EXPECT_LE(p.error(), tolerance<double>) << n << " points";
      }
  }

  TEST(starpu_step, two_sets_of_which_one_is_empty)
  {
    for (auto const& [n_targets, n_sources] : {std::pair{0, 50}, std::pair{50, 0}, std::pair{0, 0}})
    {
      auto const x = make_points<double, 3>(cloud::uniform, std::size_t(n_targets), 1);
      auto const y = make_points<double, 3>(cloud::uniform, std::size_t(n_sources), 2);
      auto const q = make_values<double>(y.size());
      std::vector<double> out(x.size(), 4.);
      auto const tree = build_tree(x.view(), y.view(), {.max_leaf_size = 10});
      auto const groups = group_leaves(tree);
      starpu::near_field step{one_runtime(), one_over_r<>{}, groups,  x.view(),
                              y.view(),      soa{q},         soa{out}};
      step.submit();
      step.wait();
      EXPECT_EQ(out, std::vector<double>(x.size(), 0.));
    }
  }

  TEST(starpu_step, a_task_may_have_more_buffers_than_a_codelet)
  {
    problem p(3000, 1);
    auto const mutual = nearfield::detail::plan_mutual(p.groups.view(), false);
    auto const gather = nearfield::detail::plan_gather(p.groups.view(), false);
    std::size_t most_halos = 0, most_chunks = 0;
    for (auto const& group : mutual.groups)
      most_halos = std::max(most_halos, group.reached_from.size());
    for (auto const& group : gather.groups)
      most_chunks = std::max(most_chunks, group.source_chunks.size());
    ASSERT_GT(1 + most_halos, STARPU_NMAXBUFS);
    ASSERT_GT(2 + 2 * most_chunks, STARPU_NMAXBUFS);
    for (pair_form const form : pair_forms)
    {
      auto step = p.step({.form = form});
      step.submit();
      step.wait();
      EXPECT_LE(p.error(), tolerance<double>);
    }
  }

  TEST(starpu_step, statistics_count_the_tasks_of_each_worker_and_implementation)
  {
    problem p(1000);
    for (pair_form const form : pair_forms)
      for (backend const where : {backend::scalar, backend::simd})
      {
        auto step = p.step({.form = form, .backend = where});
        for (int time = 0; time < 3; ++time) step.submit();
        step.wait();
        std::uint64_t tasks = 0;
        for (starpu::monitor::worker_tasks const& entry : step.statistics())
        {
          EXPECT_THAT(entry.worker, HasSubstr("CPU"));
          EXPECT_EQ(entry.implementation,
                    where == backend::scalar ? "scalar" : name_of(selected_isa()));
          tasks += entry.tasks;
        }
        EXPECT_EQ(tasks, 3 * step.n_tasks());
      }
  }

  template <class K>
  starpu_codelet& gather_codelet()
  {
    return starpu::detail::list_codelet(pair_form::one_sided,
                                        starpu::detail::kernel_type_of<double>(K{}), backend::simd);
  }

  TEST(starpu_step, an_own_interaction_carries_the_instruction_set_of_its_file)
  {
    problem p(200);
    starpu::near_field step{one_runtime(),
                            gated{},
                            p.groups,
                            p.x.view(),
                            soa{p.q},
                            soa{p.out},
                            {.form = pair_form::one_sided, .backend = simd}};
    step.submit();
    step.wait();
    for (starpu::monitor::worker_tasks const& entry : step.statistics())
      EXPECT_EQ(entry.implementation, NEARFIELD_ISA_NAME);
    EXPECT_THAT(gather_codelet<gated>().model->symbol,
                AllOf(HasSubstr("_gated_"), HasSubstr("_3d_f64_" NEARFIELD_ISA_NAME)));
  }

  struct dipole_on_cpus : dipole
  {
    static constexpr bool has_cuda = false;
  };

  // Some points lie outside the box: their coordinates are moved, and their parameters are not.
  TEST(starpu_step, reads_parameters_of_points)
  {
    auto x = make_points_of<dipole_on_cpus, double>(cloud::uniform, 1000);
    for (std::size_t i = 0; i < x.size(); i += 3) x.columns[1][i] += 2;
    auto const q = make_inputs<double, 1>(x.size());
    cell<3> const unit{.vectors = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                       .periodic = {true, true, true}};
    tree<3> const leaves =
        build_tree(coordinates_of<dipole_on_cpus>(x), {.level = 3, .cell = unit});
    auto const groups = group_leaves(leaves, {.leaves_per_group = 30});
    points<double, 1> expected = make_columns<double, 1>(x.size(), 0.), out = expected;
    near_field(simd, dipole_on_cpus{}, leaves, x.view(), q.view(), writable(expected));
    double largest = 0;
    for (double const value : expected.columns[0]) largest = std::max(largest, std::abs(value));
    for (pair_form const form : pair_forms)
    {
      starpu::near_field step{one_runtime(), dipole_on_cpus{}, groups,        x.view(),
                              q.view(),      writable(out),    {.form = form}};
      step.submit();
      step.wait();
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(out.columns[0][i], expected.columns[0][i], 1e-12 * largest) << i;
    }
  }

  /// Lets a worker run the first two P2P tasks that it is asked for, and no other.
  std::set<void const*> runnable;
  int is_runnable(unsigned, starpu_task* task, unsigned)
  {
    static std::mutex mutex;
    std::lock_guard const lock(mutex);
    if (runnable.size() < 2) runnable.insert(task->cl_arg);
    return runnable.contains(task->cl_arg);
  }

  TEST(starpu_step, may_go_on_after_a_submit_that_threw_half_way)
  {
    problem p(900);
    auto step = p.step({.form = pair_form::one_sided, .backend = simd});
    ASSERT_GT(step.n_tasks(), 2u);
    starpu_codelet& codelet = gather_codelet<one_over_r<>>();
    codelet.can_execute = &is_runnable;
    EXPECT_THAT(message_of([&] { step.submit(); }), HasSubstr("no worker"));
    step.wait();
    EXPECT_EQ(runnable.size(), 2u);
    codelet.can_execute = nullptr;
    step.submit();
    step.wait();
    EXPECT_LE(p.error(), tolerance<double>);
  }

  TEST(starpu_step, arguments_that_do_not_fit_are_refused)
  {
    problem p(100);
    auto const& runtime = one_runtime();
    one_over_r<> const k;
    std::vector<double> short_q(99), other(100);
    auto const refused = [&](auto&& interaction, auto&&... arguments)
    {
      return message_of([&]
                        { starpu::near_field step{runtime, interaction, p.groups, arguments...}; });
    };
    EXPECT_THAT(refused(k, p.x.view(), soa{short_q}, soa{other}), HasSubstr("q has 99 points"));
    EXPECT_THAT(refused(k, p.x.view(), soa{p.q}, soa{short_q}), HasSubstr("out has 99 points"));
    EXPECT_THAT(refused(k, p.x.view(), soa{p.q}, soa{p.q}), HasSubstr("overlaps"));
    EXPECT_THAT(refused(k, p.x.view(), p.x.view(), soa{p.q}, soa{other}),
                HasSubstr("one set of points, the step is given two"));
    std::vector<double> records(500);
    EXPECT_THAT(refused(k, matrix_columns<3>(records.data(), 100, 5, 1),
                        matrix_columns<1>(records.data() + 3, 100, 5, 1),
                        matrix_columns<1>(records.data() + 2, 100, 5, 1)),
                HasSubstr("output column 0 overlaps column 2 of x"));
    soa<double const, 1> const null({nullptr}, 100);
    EXPECT_THAT(refused(k, p.x.view(), null, soa{other}), HasSubstr("is null"));

    auto const two = build_tree(p.x.view(), p.x.view());
    auto const groups = group_leaves(two);
    EXPECT_THAT(
        message_of(
            [&] { starpu::near_field step{runtime, k, groups, p.x.view(), soa{p.q}, soa{other}}; }),
        HasSubstr("two sets of points, the step is given one"));
    EXPECT_THAT(message_of(
                    [&]
                    {
                      starpu::near_field step{
                          runtime,    k,        groups,     p.x.view(),
                          p.x.view(), soa{p.q}, soa{other}, {.form = pair_form::mutual}};
                    }),
                HasSubstr("give one_sided"));
  }
}
