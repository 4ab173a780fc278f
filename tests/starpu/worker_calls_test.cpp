// What waits for tasks throws where a worker of StarPU calls it, and what does not wait works
// there.

#include "environment.hpp"
#include "own_graph.hpp"

#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using testing::HasSubstr;

  /// What the error of f() says when a worker calls it: in a callback, or in a codelet.
  std::string said_in(bool in_callback, std::function<void()> const& f)
  {
    struct call
    {
      std::function<void()> const& f;
      std::string said;
      static void run(void* self)
      {
        auto& here = *static_cast<call*>(self);
        here.said = message_of(here.f);
      }
      static void codelet(void**, void* self) { run(self); }
    } here{f, "it was not called"};
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = in_callback ? [](void**, void*) {
    } : &call::codelet;
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = &here;
    task->callback_func = in_callback ? &call::run : nullptr;
    task->callback_arg = &here;
    task->synchronous = 1;
    starpu::check(starpu_task_submit(task), "starpu_task_submit");
    return here.said;
  }

  TEST(starpu_worker_calls, what_waits_throws)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 200);
    auto const q = make_values<double>(200);
    std::vector<double> out(200);
    tree const leaves = build_tree(x.view(), {.max_leaf_size = 20});
    auto const groups = group_leaves(leaves);
    starpu::near_field step{one_runtime(), one_over_r<>{}, groups, x.view(), soa{q}, soa{out}};
    starpu::p2p<one_over_r<3>, double> p2p;
    std::vector<starpu::handle> columns;
    for (auto const& column : x.columns)
      columns.push_back(starpu::handle::of(const_cast<double*>(column.data()), column.size()));
    starpu::pair_slabs<double, 3> pairs(one_runtime(), {columns[0], columns[1], columns[2]}, 0.3);
    own_columns<one_over_r<3>, double> moved(50);
    starpu::moving_tree<double, 3> const tree(one_runtime(), moved.hx);
    starpu::near_field of_moved{one_runtime(), one_over_r<>{}, tree, moved.hq, moved.hout};
    starpu::task_recording const recording;

    for (bool const in_callback : {true, false})
    {
      auto const refused = HasSubstr("called from a StarPU worker");
      auto const said = [&](std::function<void()> const& f)
      {
        return said_in(in_callback, f);
      };
      EXPECT_THAT(said([&] { one_runtime().wait(); }), refused);
      EXPECT_THAT(said([&] { p2p.wait(); }), refused);
      // submitting is no waiting
      EXPECT_EQ(said([&] { step.submit(); }), "nothing was thrown");
      EXPECT_THAT(said([&] { step.wait(); }), refused);
      EXPECT_THAT(said([&] { step.wait_for_inputs(); }), refused);
      EXPECT_THAT(said(
                      [&]
                      {
                        starpu::near_field{one_runtime(), one_over_r<>{}, groups,
                                           x.view(),      soa{q},         soa{out}};
                      }),
                  refused);
      EXPECT_THAT(said(
                      [&]
                      {
                        starpu::pair_slabs<double, 3>(one_runtime(),
                                                      {columns[0], columns[1], columns[2]}, 0.3);
                      }),
                  refused);
      EXPECT_THAT(
          said([&]
               { starpu::near_field{one_runtime(), one_over_r<>{}, tree, moved.hq, moved.hout}; }),
          refused);
      EXPECT_EQ(said([&] { of_moved.submit(); }), "nothing was thrown");
      EXPECT_THAT(said([&] { of_moved.wait(); }), refused);
      EXPECT_THAT(said([&] { of_moved.wait_for_inputs(); }), refused);
      EXPECT_THAT(said([&] { static_cast<void>(recording.tasks()); }), refused);
      EXPECT_THAT(said([&] { pairs.recount(); }), refused);
      EXPECT_THAT(said([&] { (void)pairs.n_pairs(); }), refused);
      EXPECT_THAT(said([&] { pairs.fill(); }), refused);
      EXPECT_THAT(said([&] { pairs.wait(); }), refused);
      step.wait();
    }
    // what was refused has not been half done
    EXPECT_GT(pairs.n_pairs(), 0u);
    pairs.fill();
    EXPECT_TRUE(pairs.j(0));
    EXPECT_LE(error_of(soa{out}, reference_near_field(one_over_r<>{}, leaves, x, x,
                                                      soa<double const, 1>(soa{q}))),
              tolerance<double>);
  }

  TEST(starpu_worker_calls, tasks_outlive_a_p2p_that_a_worker_destroys)
  {
    using K = one_over_r<3>;
    for (bool const in_callback : {true, false})
    {
      own_columns<K, double> a(50);
      said_in(in_callback,
              [&]
              {
                starpu::p2p<K, double> p2p;
                // which this worker runs when it comes to it
                for (int task = 0; task < 20; ++task)
                  p2p.insert_inner(a.box(), {.worker = starpu_worker_get_id()});
              });
      auto expected = a.from_itself();
      for (int task = 1; task < 20; ++task) expected = expected + a.from_itself();
      EXPECT_LE(a.error(expected), tolerance<double>);
    }
  }
}
