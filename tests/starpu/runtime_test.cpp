#include "environment.hpp"
#include "runtime/src/conf.hpp"
#include "runtime/src/idle_pause.hpp"
#include "runtime/src/rates.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <starpu.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::runtime;
  using testing::AllOf;
  using testing::HasSubstr;
  using testing::Not;

  // workers are counted here: those of GPUs, which a machine may have, would be among them
  [[maybe_unused]] int const no_gpus = setenv("STARPU_NCUDA", "0", 1);

  /// 100 points that meet one another.
  nearfield::detail::leaf_groups_view one_leaf()
  {
    static index_type const offsets[] = {0, 100}, none[] = {0, 0};
    static interaction_list::range const own[] = {{0, 100}};
    nearfield::detail::leaf_groups_view view;
    view.targets = view.sources = {offsets};
    view.full = view.half = {own, none, {}, {}};
    return view;
  }

  // StarPU aborts when it reads a file of measured times that is damaged, as a full disk leaves it.
  TEST(starpu_runtime, damaged_files_of_performance_models_are_not_read)
  {
    environment variables;
    std::string home = (std::filesystem::temp_directory_path() / "nearfield-home-XXXXXX").string();
    ASSERT_NE(mkdtemp(home.data()), nullptr);
    variables.set("STARPU_HOME", home.c_str());
    char name[256] = {};
    gethostname(name, sizeof(name) - 1);
    std::string const host = std::string(name).substr(0, std::string(name).find('.'));
    for (auto const* scheduler : {"dmda", "dmdas"})
    {
      std::vector<double> x(30, 0.5), q(10, 1.), out(10, 0.);
      x[0] = 0.25;
      runtime const r({.workers = 1, .scheduler = scheduler});
      starpu::p2p<one_over_r<3>, double> p2p;
      for (auto const& version :
           std::filesystem::directory_iterator(home + "/.starpu/sampling/codelets"))
        std::ofstream(version.path() / (p2p.inner()->model->symbol + ("." + host))) << "damaged\n";
      {
        auto const hx = starpu::handle::of(x.data(), x.size());
        auto const hq = starpu::handle::of(q.data(), q.size());
        auto const hout = starpu::handle::of(out.data(), out.size());
        p2p.insert_inner({.x = hx, .q = hq, .out = hout});
        p2p.wait();
      }
      EXPECT_EQ(out[0], 9 / 0.25);
    }
    std::filesystem::remove_all(home);
  }

  // All workers share clock and caches, so what one does among two is not what it does alone.
  TEST(starpu_runtime, rates_kept_for_another_number_of_workers_are_not_used)
  {
    environment variables;
    std::string cache =
        (std::filesystem::temp_directory_path() / "nearfield-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(cache.data()), nullptr);
    variables.set("NEARFIELD_CACHE", cache.c_str());
    auto const kept = [&]
    {
      std::string text;
      for (auto const& file : std::filesystem::directory_iterator(cache))
        std::getline(std::ifstream(file.path()), text, '\0');
      return text;
    };
    for (int const workers : {2, 1})
    {
      runtime const r({.workers = workers});
      std::string const among = ", one of " + std::to_string(workers);
      EXPECT_THAT(kept(), Not(HasSubstr(among)));
      EXPECT_GT(starpu::detail::rate_of(starpu::detail::kernel_of<float>(log_r{}),
                                        pair_form::one_sided, scalar, one_leaf()),
                0);
      EXPECT_THAT(kept(), HasSubstr(among));
    }
    std::filesystem::remove_all(cache);
  }

  TEST(starpu_runtime, runs_as_long_as_one_object_lives)
  {
    ASSERT_FALSE(starpu_is_initialized());
    {
      runtime const first({.workers = 2});
      EXPECT_TRUE(starpu_is_initialized());
      EXPECT_EQ(first.n_workers(), 2);
      EXPECT_THAT(first.worker_names(), testing::ElementsAre("CPU 0", "CPU 1"));
      {
        runtime const nested({.workers = 2}), without_options;
        EXPECT_EQ(nested.n_workers(), 2);
        runtime const copy = first;
      }
      EXPECT_TRUE(starpu_is_initialized());
    }
    EXPECT_FALSE(starpu_is_initialized());
    runtime const again({.workers = 1});
    EXPECT_EQ(again.n_workers(), 1);
  }

  TEST(starpu_runtime, is_not_started_by_tasks)
  {
    ASSERT_FALSE(starpu_is_initialized());
    starpu::p2p<one_over_r<3>, double> p2p;
    EXPECT_FALSE(starpu_is_initialized());
    EXPECT_THAT(message_of([&] { p2p.wait(); }), HasSubstr("StarPU is not running"));
    EXPECT_THAT(message_of([&] { p2p.insert_inner({.x = nullptr, .q = nullptr, .out = nullptr}); }),
                HasSubstr("StarPU is not running: call starpu_init"));
    EXPECT_FALSE(starpu_is_initialized());
  }

  TEST(starpu_runtime, a_second_one_with_other_options_is_refused)
  {
    runtime const first({.workers = 2, .scheduler = "eager"});
    EXPECT_THAT(message_of([] { runtime const r({.workers = 1}); }),
                AllOf(HasSubstr("workers: found 1"), HasSubstr("already runs with 2"),
                      HasSubstr("first runtime")));
    EXPECT_THAT(message_of([] { runtime const r({.scheduler = "lws"}); }),
                HasSubstr("scheduler: found 'lws', but StarPU already runs with 'eager'"));
    EXPECT_NO_THROW(runtime({.workers = 2, .scheduler = "eager"}));
    EXPECT_TRUE(starpu_is_initialized());
  }

  TEST(starpu_runtime, leaves_alone_what_the_program_has_started)
  {
    runtime{{.workers = 1, .scheduler = "eager"}};
    starpu_conf conf;
    starpu::check(starpu_conf_init(&conf), "starpu_conf_init");
    conf.precedence_over_environment_variables = 1;
    conf.ncpus = 1;
    starpu::check(starpu_init(&conf), "starpu_init");
    {
      runtime const nested({.workers = 1});
      EXPECT_EQ(nested.n_workers(), 1);
      EXPECT_EQ(nested.scheduler(), "") << "that of a StarPU which ran before";
      EXPECT_THAT(message_of([] { runtime const r({.workers = 2}); }),
                  AllOf(HasSubstr("workers: found 2"), HasSubstr("already runs with 1"),
                        HasSubstr("the program itself started StarPU")));
      EXPECT_THAT(message_of([] { runtime const r({.scheduler = "eager"}); }),
                  HasSubstr("'eager', but StarPU already runs with one that was not named here"));
    }
    EXPECT_TRUE(starpu_is_initialized());
    starpu_shutdown();
  }

  /// What StarPU runs with.
  starpu_sched_policy const& running_policy()
  {
    return *starpu_sched_ctx_get_sched_policy(0);
  }

  TEST(starpu_runtime, its_workers_yield_under_the_policy_that_starpu_would_take)
  {
    std::string taken;
    {
      starpu_conf conf;
      starpu::check(starpu_conf_init(&conf), "starpu_conf_init");
      conf.ncpus = 1;
      starpu::check(starpu_init(&conf), "starpu_init");
      taken = running_policy().policy_name;
      EXPECT_NE(running_policy().pop_task, starpu::yielding_policy(taken)->pop_task);
      starpu_shutdown();
    }
    {
      runtime const automatic({.workers = 1});
      EXPECT_EQ(running_policy().policy_name, taken);
      EXPECT_EQ(running_policy().pop_task, starpu::yielding_policy()->pop_task);
    }
    EXPECT_EQ(starpu::yielding_policy("fastest"), nullptr);
    {
      runtime const random({.workers = 1, .scheduler = "random"}); // has no pop_task
      std::atomic<int> ran = 0;
      starpu::cpu_workers(random).run(2, [&](int) { ++ran; });
      EXPECT_EQ(ran, 2);
    }
    // an option is stronger than the environment
    for (auto const& [variable, option] : {std::pair{"lws", "eager"}, {"eager", ""}})
    {
      setenv("STARPU_SCHED", variable, 1);
      runtime const eager({.workers = 1, .scheduler = option});
      EXPECT_EQ(eager.scheduler(), "eager");
      EXPECT_STREQ(running_policy().policy_name, "eager");
      EXPECT_EQ(running_policy().pop_task, starpu::yielding_policy("eager")->pop_task);
      EXPECT_STREQ(std::getenv("STARPU_SCHED"), variable);
      unsetenv("STARPU_SCHED");
    }
  }

  TEST(starpu_runtime, idle_workers_look_less_often_the_more_they_are_and_the_longer_they_wait)
  {
    using namespace std::chrono_literals;
    for (int const n_idle : {0, 1, 2, 3, 14, 59, 128})
    {
      auto pause = 0ns, waited = 0ns;
      for (int look = 0; look < 20; ++look)
      {
        auto const next = starpu::detail::idle_pause(pause, n_idle);
        EXPECT_GT(next, 0ns);
        EXPECT_GE(next, pause);
        EXPECT_LE(next, waited + 500ns) << "longer than the worker has been idle";
        waited += next;
        pause = next;
      }
      EXPECT_EQ(pause, std::max(1, n_idle) * 1us);
    }
    EXPECT_EQ(starpu::detail::idle_pause(59us, 4), 4us); // others have found tasks
  }

  TEST(starpu_runtime, takes_the_scheduler_and_the_workers_that_are_stated)
  {
    runtime const eager({.workers = 1, .scheduler = "eager"});
    EXPECT_EQ(eager.scheduler(), "eager");
    EXPECT_EQ(eager.n_workers(), 1);
  }

  TEST(starpu_runtime, an_unknown_scheduler_is_named_beside_some_that_exist)
  {
    EXPECT_THAT(message_of([] { runtime const r({.scheduler = "fastest"}); }),
                AllOf(HasSubstr("'fastest'"), HasSubstr("lws"), HasSubstr("dmdas")));
    EXPECT_FALSE(starpu_is_initialized());
    setenv("STARPU_SCHED", "quickest", 1);
    EXPECT_THAT(message_of([] { runtime const r; }), HasSubstr("'quickest'"));
    unsetenv("STARPU_SCHED");
  }

  TEST(starpu_runtime, numbers_of_workers_that_cannot_be_are_refused)
  {
    EXPECT_THAT(message_of([] { runtime const r({.workers = -1}); }),
                HasSubstr("workers: found -1"));
    EXPECT_THAT(message_of([] { runtime const r({.workers = STARPU_MAXCPUS + 1}); }),
                HasSubstr("built for 1 to"));
    EXPECT_FALSE(starpu_is_initialized());
  }

  TEST(starpu_runtime, more_cores_than_it_was_built_for_are_named_with_the_remedy)
  {
    EXPECT_EQ(starpu::detail::worker_limit_of(STARPU_MAXCPUS), "");
    EXPECT_THAT(starpu::detail::worker_limit_of(STARPU_MAXCPUS + 1),
                AllOf(HasSubstr("at most " + std::to_string(STARPU_MAXCPUS) + " CPU workers"),
                      HasSubstr("there are " + std::to_string(STARPU_MAXCPUS + 1) + " cores"),
                      HasSubstr("./dev starpu ")));
    EXPECT_EQ(starpu::worker_limit(),
              starpu::detail::worker_limit_of(starpu::detail::allowed_cores()));
  }

  TEST(starpu_runtime, without_workers_the_remedy_is_named)
  {
    setenv("STARPU_NCPU", "0", 1);
    EXPECT_THAT(message_of([] { runtime const r; }),
                AllOf(HasSubstr("starpu_init"), HasSubstr("no worker"), HasSubstr("STARPU_NCPU")));
    setenv("STARPU_NCPU", "2", 1);
    for (char const* const name : {"STARPU_RESERVE_NCPU", "STARPU_MAIN_THREAD_BIND"})
    {
      environment variables;
      variables.set(name, "1");
      EXPECT_THAT(message_of([] { runtime const r({.workers = 1}); }),
                  HasSubstr(std::string(name) + "=1 takes CPU workers: unset it"));
    }
    EXPECT_FALSE(starpu_is_initialized());
  }

  /// What the error of f() says in a child of fork().
  template <class F>
  std::string said_in_a_child(F&& f)
  {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    pid_t const child = fork();
    if (child == 0)
    {
      std::string const said = message_of(f);
      bool const was_written = write(ends[1], said.data(), said.size()) > 0;
      _exit(was_written ? 0 : 1);
    }
    close(ends[1]);
    std::string said(1000, ' ');
    // it would wait for ever
    for (int time = 0; waitpid(child, nullptr, WNOHANG) == 0; ++time)
    {
      if (time == 3000) kill(child, SIGKILL);
      usleep(10000);
    }
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], said.data(), 1000))));
    close(ends[0]);
    return said;
  }

  TEST(starpu_runtime, a_child_of_fork_has_no_workers)
  {
    auto const refused = HasSubstr("created by fork() while StarPU was running");
    std::vector<double> values(10);
    {
      runtime first({.workers = 1});
      starpu::p2p<one_over_r<3>, double> p2p;
      auto data = std::make_optional(starpu::handle::of(values.data(), 10));
      EXPECT_THAT(said_in_a_child([] { runtime const r; }), refused);
      EXPECT_THAT(said_in_a_child([&] { first.wait(); }), refused);
      EXPECT_THAT(said_in_a_child([&] { p2p.wait(); }), refused);
      EXPECT_THAT(
          said_in_a_child([&] { p2p.insert_inner({.x = *data, .q = *data, .out = *data}); }),
          refused);
      EXPECT_THAT(said_in_a_child([&] { starpu::handle::of(values.data(), 10); }), refused);
      // what it has inherited may go
      EXPECT_EQ(said_in_a_child([&] { data.reset(); }), "nothing was thrown");
      EXPECT_EQ(said_in_a_child([&] { first.~runtime(); }), "nothing was thrown");
    }
    EXPECT_EQ(said_in_a_child([] { runtime const r({.workers = 1}); }), "nothing was thrown")
        << "forked before StarPU starts";
  }

  TEST(starpu_runtime, a_starpu_that_the_program_has_stopped_is_missed)
  {
    auto const refused = HasSubstr("StarPU is not running");
    std::vector<double> values(10);
    {
      runtime first({.workers = 1});
      auto const data = starpu::handle::of(values.data(), 10);
      starpu::p2p<one_over_r<3>, double> p2p;
      starpu::pair_slabs<double, 2> pairs(first, {data, data}, 0.5);
      first.wait();
      starpu_shutdown();
      EXPECT_THAT(message_of([] { runtime const r; }), HasSubstr("starpu_shutdown() was called"));
      EXPECT_THAT(message_of([&] { first.wait(); }), refused);
      EXPECT_THAT(message_of([&] { p2p.wait(); }), refused);
      EXPECT_THAT(message_of([&] { p2p.insert_inner({.x = data, .q = data, .out = data}); }),
                  refused);
      EXPECT_THAT(message_of([&] { starpu::handle::of(values.data(), 10); }), refused);
      EXPECT_THAT(message_of([&] { (void)pairs.n_pairs(); }), refused);
    }
    EXPECT_NO_THROW(runtime({.workers = 1}));
  }

  TEST(starpu_runtime, a_home_below_the_folder_for_temporary_files_is_the_users_alone)
  {
    namespace fs = std::filesystem;
    std::string temporary = testing::TempDir() + "nearfield_runtime_test_XXXXXX";
    ASSERT_NE(mkdtemp(temporary.data()), nullptr);
    fs::path const folder = fs::path(temporary) / ("nearfield-starpu-" + std::to_string(geteuid()));
    {
      environment variables;
      variables.set("STARPU_HOME", nullptr);
      variables.set("STARPU_PERF_MODEL_DIR", nullptr);
      variables.set("XDG_CACHE_HOME", nullptr);
      variables.set("HOME", (temporary + "/none").c_str());
      variables.set("TMPDIR", temporary.c_str());
      auto const refused = AllOf(HasSubstr("STARPU_HOME: " + folder.string()),
                                 HasSubstr("directory that you can write to"));

      fs::create_directory(fs::path(temporary) / "elsewhere");
      fs::create_directory_symlink("elsewhere", folder);
      EXPECT_THAT(message_of([] { runtime const r; }), refused);
      fs::remove(folder);
      std::ofstream(folder) << "a file";
      EXPECT_THAT(message_of([] { runtime const r; }), refused);
      fs::remove(folder);
      EXPECT_FALSE(starpu_is_initialized());

      for (int time = 0; time < 2; ++time)
      {
        unsetenv("STARPU_HOME");
        EXPECT_EQ(message_of([] { runtime const r; }), "nothing was thrown");
        EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
      }

      // which takes the place of a home
      unsetenv("STARPU_HOME");
      setenv("HOME", "/proc/none", 1);
      setenv("STARPU_PERF_MODEL_DIR", (temporary + "/measured").c_str(), 1);
      EXPECT_EQ(message_of([] { runtime const r; }), "nothing was thrown");
      EXPECT_TRUE(fs::exists(temporary + "/measured/bus"));
    }
    fs::remove_all(temporary);
  }

  TEST(starpu_check, a_code_becomes_an_error_with_the_place)
  {
    EXPECT_NO_THROW(starpu::check(0, "starpu_task_submit"));
    EXPECT_THAT(message_of([] { starpu::check(-EIO, "starpu_task_submit(p2p)"); }),
                AllOf(HasSubstr("starpu_task_submit(p2p)"), HasSubstr("-5")));
    EXPECT_THAT(message_of([] { starpu::check(-ENODEV, "starpu_task_submit(p2p)"); }),
                AllOf(HasSubstr("no worker"), HasSubstr("STARPU_NCPU"), HasSubstr("STARPU_NCUDA")));
    auto const is_of = [](error_kind kind, int code)
    {
      return testing::Throws<error>(
          AllOf(testing::Property(&error::kind, kind), testing::Property(&error::code, code)));
    };
    EXPECT_THAT([] { starpu::check(-EIO, "starpu_init"); },
                is_of(error_kind::starpu_failure, -EIO));
    EXPECT_THAT([] { starpu::check(-ENODEV, "starpu_init"); },
                is_of(error_kind::not_available, -ENODEV));
    EXPECT_THAT([] { starpu::check(-ENOMEM, "starpu_malloc"); },
                is_of(error_kind::out_of_memory, -ENOMEM));
  }
}
