// What a task says to StarPU beside its data, and what is said of data that does not fit.

#include "environment.hpp"
#include "own_graph.hpp"
#include "runtime/src/codelet.hpp"
#include "runtime/src/task.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using starpu::task_options;
  using testing::AllOf;
  using testing::HasSubstr;
  using points_of_a_user = own_columns<one_over_r<3>, double>;

  /// What a callback saw of the task that has ended.
  struct seen
  {
    std::atomic<int> calls = 0;
    std::atomic<int> priority = 0, worker = -1;
    std::atomic<starpu_tag_t> tag = 0;
    std::string name;

    static void look(void* self)
    {
      auto& here = *static_cast<seen*>(self);
      starpu_task const* const task = starpu_task_get_current();
      here.priority = task->priority;
      here.tag = task->tag_id;
      here.worker = starpu_worker_get_id();
      here.name = task->name;
      ++here.calls;
    }
  };

  TEST(starpu_task_options, reach_starpu)
  {
    points_of_a_user a(50);
    starpu::p2p<one_over_r<3>, double> p2p;
    for (int const worker : {0, 1})
    {
      seen what;
      p2p.insert_inner(a.box(),
                       {.priority = std::numeric_limits<int>::max(), // or the most there is
                        .tag = 1234u + static_cast<unsigned>(worker),
                        .callback = &seen::look,
                        .callback_argument = &what,
                        .worker = worker,
                        .name = "mine"});
      p2p.wait();
      EXPECT_EQ(what.calls, 1);
      EXPECT_EQ(what.priority, starpu_sched_get_max_priority());
      EXPECT_EQ(what.tag, 1234u + static_cast<unsigned>(worker));
      EXPECT_EQ(what.worker, worker);
      EXPECT_EQ(what.name, "mine");
    }
    EXPECT_EQ(p2p.statistics().size(), 2u);
  }

  /// A task of the user's that ends when it is told to, and saw then whether others had ended.
  struct gate
  {
    std::atomic<bool> open = false;
    std::atomic<bool> after_has_ended = false;
    bool ended_too_early = false;

    static void run(void**, void* self)
    {
      auto& here = *static_cast<gate*>(self);
      while (!here.open) std::this_thread::yield();
      here.ended_too_early = here.after_has_ended;
    }
    static void open_now(void* self) { static_cast<gate*>(self)->open = true; }
    static void ended(void* self) { static_cast<gate*>(self)->after_has_ended = true; }

    /// Submitted on worker 0; it is kept until destroy().
    starpu_task* submit(starpu_tag_t tag)
    {
      static starpu_codelet codelet = []
      {
        starpu_codelet made;
        starpu_codelet_init(&made);
        made.cpu_funcs[0] = &run;
        return made;
      }();
      starpu_task* const task = starpu_task_create();
      task->cl = &codelet;
      task->cl_arg = this;
      task->use_tag = 1;
      task->tag_id = tag;
      task->execute_on_a_specific_worker = 1;
      task->workerid = 0;
      task->destroy = 0;
      task->detach = 0;
      starpu::check(starpu_task_submit(task), "starpu_task_submit");
      return task;
    }
  };

  TEST(starpu_task_options, a_callback_is_called_beside_a_recording)
  {
    points_of_a_user a(50);
    starpu::p2p<one_over_r<3>, double> p2p;
    starpu::task_recording const recording;
    seen what;
    p2p.insert_inner(a.box(), {.callback = &seen::look, .callback_argument = &what});
    starpu_task_wait_for_all();
    ASSERT_EQ(what.calls, 1);
    EXPECT_THAT(recording.tasks(), testing::IsEmpty()) << "those of near_field steps";
  }

  TEST(starpu_task_options, tasks_wait_for_others)
  {
    for (bool const by_tag : {true, false})
    {
      starpu_tag_t const first = by_tag ? 71 : 73;
      points_of_a_user a(50), b(50), c(50);
      starpu::p2p<one_over_r<3>, double> p2p;
      gate others;
      starpu_task* const before = others.submit(first);
      task_options after{
          .tag = first + 1, .callback = &gate::ended, .callback_argument = &others, .worker = 1};
      if (by_tag)
        after.after = {first};
      else
        after.after_tasks = {before};
      p2p.insert_inner(a.box(), after);
      // these depend on nothing: the worker has taken its first task before, if it could
      p2p.insert_inner(b.box(), {.worker = 1});
      p2p.insert_inner(c.box(),
                       {.callback = &gate::open_now, .callback_argument = &others, .worker = 1});
      starpu::check(starpu_task_wait(before), "starpu_task_wait");
      p2p.wait();
      starpu_task_destroy(before);
      EXPECT_FALSE(others.ended_too_early) << (by_tag ? "by tag" : "by task");
      EXPECT_TRUE(others.after_has_ended);
    }
  }

  TEST(starpu_task_options, a_refused_task_leaves_no_dependencies_behind)
  {
    // StarPU would tell a task that is gone of the end of the first one, and abort
    starpu_codelet for_gpus;
    starpu_codelet_init(&for_gpus);
    for_gpus.name = "for_gpus";
    for_gpus.where = STARPU_CUDA;
    for_gpus.cuda_funcs[0] = [](void**, void*) {
    };
    for (int const worker : {-1, 1})
    {
      gate others;
      starpu_task* const before = others.submit(81);
      std::string const said = message_of(
          [&]
          {
            starpu::detail::task task(for_gpus);
            task_options const options{
                .tag = 82, .after = {81}, .after_tasks = {before}, .worker = worker};
            task.set_options(options);
            task.submit();
          });
      EXPECT_THAT(said, HasSubstr(worker < 0 ? "no worker can do this"
                                             : "worker: found 1, which is CPU 1"));
      others.open = true;
      starpu::check(starpu_task_wait(before), "starpu_task_wait");
      starpu_task_destroy(before);
      starpu_task_wait_for_all();
    }
  }

  TEST(starpu_own_tasks, outlive_no_object)
  {
    points_of_a_user a(50);
    gate others;
    starpu_task* const before = others.submit(91);
    std::atomic<bool> may_end = false;
    std::thread opens(
        [&]
        {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          may_end = true;
          others.open = true;
        });
    {
      starpu::p2p<one_over_r<3>, double> p2p;
      p2p.insert_inner(a.box(), {.tag = 92, .after = {91}});
      EXPECT_THROW(p2p.insert_inner({.x = a.hx, .q = a.hq, .out = a.hq}), error);
    }
    EXPECT_TRUE(may_end) << "the object was destroyed before its task ran";
    opens.join();
    starpu::check(starpu_task_wait(before), "starpu_task_wait");
    starpu_task_destroy(before);
    EXPECT_LE(a.error(a.from_itself()), tolerance<double>);
  }

  TEST(starpu_own_tasks, and_their_callbacks_outlive_no_object)
  {
    points_of_a_user a(50);
    struct inserts_more
    {
      explicit inserts_more(points_of_a_user& of) : points(of) {}
      points_of_a_user& points;
      std::string said_of_wait;
      starpu::p2p<one_over_r<3>, double> p2p; // last: it waits for the callbacks
      static void call(void* self)
      {
        auto& here = *static_cast<inserts_more*>(self);
        here.p2p.insert_inner(here.points.box());
        here.said_of_wait = message_of([&] { here.p2p.wait(); });
      }
    };
    constexpr int rounds = 200;
    for (int round = 0; round < rounds; ++round)
    {
      std::string said;
      {
        inserts_more own(a);
        own.p2p.insert_inner(a.box(), {.callback = &inserts_more::call, .callback_argument = &own});
        own.p2p.wait();
        said = own.said_of_wait;
      }
      EXPECT_THAT(said, HasSubstr("wait: called from a StarPU worker"));
      auto const own = std::make_unique<inserts_more>(a);
      own->p2p.insert_inner(a.box(),
                            {.callback = &inserts_more::call, .callback_argument = own.get()});
    }
    auto expected = a.from_itself();
    for (int t = 1; t < 4 * rounds; ++t) expected = expected + a.from_itself();
    EXPECT_LE(a.error(expected), tolerance<double>);
  }

  TEST(starpu_own_tasks, commute)
  {
    // the second of two tasks with one output lets the first begin
    points_of_a_user a(50);
    gate others;
    starpu_task* const before = others.submit(95);
    starpu::p2p<one_over_r<3>, double> p2p;
    p2p.insert_inner(a.box(), {.tag = 96, .after = {95}});
    p2p.insert_inner(a.box(),
                     {.callback = &gate::open_now, .callback_argument = &others, .worker = 1});
    starpu::check(starpu_task_wait(before), "starpu_task_wait");
    p2p.wait();
    starpu_task_destroy(before);
    EXPECT_LE(a.error(a.from_itself() + a.from_itself()), tolerance<double>);
  }

  TEST(starpu_task_options, that_starpu_does_not_know_are_refused)
  {
    points_of_a_user a(50);
    starpu::p2p<one_over_r<3>, double> p2p;
    auto const with = [&](task_options const& options)
    {
      return message_of([&] { p2p.insert_inner(a.box(), options); });
    };
    EXPECT_THAT(with({.worker = 1000}), AllOf(HasSubstr("worker: found 1000"), HasSubstr("has 2")));
    EXPECT_THAT(with({.worker = 2}), AllOf(HasSubstr("worker: found 2"), HasSubstr("has 2")));
    EXPECT_THAT(with({.tag = 5, .after = {5}}), HasSubstr("waits for its own tag"));
    EXPECT_THAT(with({.after_tasks = {nullptr}}), HasSubstr("after_tasks: found a null pointer"));
    EXPECT_THAT(with({.after = {5}}), HasSubstr("give it a tag"));
    EXPECT_NO_THROW(p2p.wait());
    EXPECT_EQ(a.out.columns[0], std::vector<double>(50, 1.)) << "no task was submitted";
  }

  TEST(starpu_monitor, rethrows_the_first_failure_once)
  {
    starpu::monitor watch;
    for (char const* const what : {"first", "second"}) try
      {
        throw error(what);
      }
      catch (...)
      {
        watch.caught();
      }
    EXPECT_EQ(message_of([&] { watch.rethrow(); }), "first");
    EXPECT_NO_THROW(watch.rethrow());
  }

  TEST(starpu_codelet, says_what_a_task_takes)
  {
    struct nothing final : starpu::detail::codelet
    {
      nothing()
          : codelet({.name = "nothing",
                     .symbol = "nothing",
                     .profiler_name = "nothing",
                     .backends = {scalar, simd}})
      {}
      void run(starpu::detail::running_task const&) const override {}
    };
    static auto& made = *new nothing; // StarPU looks at models when it stops
    starpu::detail::task_argument argument{.work = 1e6, .cpu_rate = 1e9, .gpu_rate = 1e10};
    starpu_task task;
    starpu_task_init(&task);
    task.cl = &made;
    task.cl_arg = &argument;
    auto const microseconds = [&](unsigned implementation)
    {
      auto* const worker = starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS);
      return made.model->arch_cost_function(&task, worker, implementation);
    };
    EXPECT_DOUBLE_EQ(microseconds(0), 20 + 1000);
    EXPECT_DOUBLE_EQ(microseconds(1), 20 + 10 * 1000) << "scalar";
    starpu_perfmodel_device gpu{.type = STARPU_CUDA_WORKER, .devid = 0, .ncores = 0};
    starpu_perfmodel_arch on_gpu{.ndevices = 1, .devices = &gpu};
    EXPECT_DOUBLE_EQ(made.model->arch_cost_function(&task, &on_gpu, 0), 10 + 100);
    task.cl = nullptr; // which is none of StarPU's
    starpu_task_clean(&task);
  }

  TEST(starpu_backend_set, is_what_was_named)
  {
    using starpu::backend_set;
    backend_set const all = backend::automatic;
    EXPECT_TRUE(!all.has_scalar() && all.has_simd() && all.has_cuda());
    EXPECT_FALSE(all.names_cuda());
    EXPECT_TRUE(backend_set({backend::automatic, backend::scalar}).has_scalar());
    backend_set const two{simd, cuda};
    EXPECT_TRUE(!two.has_scalar() && two.has_simd() && two.has_cuda());
    EXPECT_TRUE(two.names_cuda());
    EXPECT_THAT(message_of([] { backend_set const none(std::initializer_list<backend>{}); }),
                HasSubstr("backend: found none"));
  }

  TEST(starpu_backend_set, each_has_a_codelet_of_its_own)
  {
    using p2p = starpu::p2p<one_over_r<3>, double>;
    auto const codelet_of = [](starpu::backend_set const& where)
    {
      return p2p({}, {.backend = where}).inner();
    };
    EXPECT_EQ(codelet_of(simd), codelet_of(simd));
    EXPECT_NE(codelet_of(simd), codelet_of(backend::automatic)) << "which may have CUDA";
    EXPECT_NE(codelet_of(simd), codelet_of(scalar));
  }

  TEST(starpu_backend_set, automatic_runs_no_scalar_task)
  {
    // a scheduler with models tries all implementations before it knows them
    points_of_a_user a(50);
    starpu::p2p<one_over_r<3>, double> p2p;
    for (int task = 0; task < 30; ++task) p2p.insert_inner(a.box());
    p2p.wait();
    ASSERT_FALSE(p2p.statistics().empty());
    for (auto const& ran : p2p.statistics()) EXPECT_NE(ran.implementation, "scalar");
  }

  TEST(starpu_backend_set, cuda_in_a_build_without_it_is_refused)
  {
    if (built_with_cuda()) GTEST_SKIP() << "built with CUDA";
    EXPECT_THAT(message_of(
                    []
                    {
                      starpu::p2p<one_over_r<3>, double> p2p(one_over_r<3>(),
                                                             {.backend = {simd, cuda}});
                    }),
                AllOf(HasSubstr("backend cuda"), HasSubstr("without CUDA")));
  }
}
