// What StarPU does not get from its environment, where it would abort or wait for ever.
#include "program.hpp"

#include <random>

#include <sys/file.h>

using namespace nearfield::test;

#if NEARFIELD_APP_HAS_STARPU
namespace
{
  struct variable
  {
    std::string name, value, expected;
  };

  void PrintTo(variable const& v, std::ostream* out)
  {
    *out << v.name << "=" << v.value;
  }

  class starpu_environment : public testing::Test
  {
  protected:
    starpu_environment() { write_text(folder_ / "a.csv", "0,0,0,1\n1,0,0,2\n"); }
    ending run(std::map<std::string, std::string> const& environment)
    {
      return run_program({"run", (folder_ / "a.csv").string(), "--workers", "1"}, environment);
    }
    temporary_folder folder_;
  };

  class a_variable_of_starpu : public starpu_environment,
                               public testing::WithParamInterface<variable>
  {};
}

TEST_P(a_variable_of_starpu, is_named_where_starpu_would_abort)
{
  auto const& [name, value, expected] = GetParam();
  expect_refusal(run({{name, value}}), "^nearfield: " + name + ": .*" + expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, a_variable_of_starpu,
    testing::Values(
        variable{"STARPU_NCPU", "foo", "found 'foo'; give a whole number, 0 or more"},
        variable{"STARPU_NCPU", "-5", "found '-5'"},
        variable{"STARPU_NCPU", "99999999999", "found '99999999999'"},
        variable{"STARPU_NCUDA", "1.5", "found '1.5'"},
        variable{"STARPU_CALIBRATE", "yes", "found 'yes'"},
        variable{"STARPU_LIMIT_CPU_MEM", "1G", "found '1G'"},
        variable{"STARPU_LIMIT_CUDA_0_MEM", "1G", "found '1G'"},
        variable{"STARPU_BACKOFF_MIN", "x", "found 'x'"},
        variable{"STARPU_BACKOFF_MIN", "2147483647", "0 to 1000000"},
        variable{"STARPU_BACKOFF_MAX", "2147483647", "0 to 1000000"},
        variable{"STARPU_NTHREADS_PER_CORE", "0", "a whole number, 1"},
        variable{"STARPU_NTHREADS_PER_CORE", "99", "found '99'"},
        variable{"STARPU_MAIN_THREAD_CPUID", "99999", "a whole number, 0 to "},
        variable{"STARPU_MAIN_THREAD_COREID", "99999", "found '99999'"},
        variable{"STARPU_DISABLE_KERNELS", "1", "found '1'; give a whole number, 0, or"},
        variable{"STARPU_WATCHDOG_TIMEOUT", "foo", "found 'foo'; .* 1 or more"},
        variable{"STARPU_WATCHDOG_TIMEOUT", "0", "found '0'"},
        variable{"STARPU_SCHED_ALPHA", "1,5", "found '1,5'; give a number"},
        variable{"STARPU_WORKERS_CPUID", "foo", "found 'foo'; give numbers like"},
        variable{"STARPU_WORKERS_CPUID", "0 -1", "found '0 -1'"},
        variable{"STARPU_WORKERS_CPUID", "0-999", "found '0-999'; give at most"},
        variable{"STARPU_WORKERS_COREID", "0-149 0-149", "give at most"},
        variable{"STARPU_WORKERS_COREID", "", "found ''"},
        variable{"STARPU_WORKERS_OPENCLID", "foo", "found 'foo'"},
        variable{"STARPU_NMIC", "foo", "found 'foo'"},
        variable{"STARPU_SUBALLOCATOR", "foo", "found 'foo'"},
        variable{"STARPU_MPI_THREAD_CPUID", "foo", "found 'foo'"},
        variable{"STARPU_DISPLAY_BINDINGS", "yes", "found 'yes'"},
        variable{"STARPU_TASK_BREAK_ON_EXEC", "-1", "found '-1'"},
        variable{"STARPU_WINDOW_TIME_SIZE", "foo", "found 'foo'; give a number"},
        variable{"STARPU_SCHED_ALPHA", "inf", "found 'inf'"},
        variable{"STARPU_DISK_SWAP_SIZE", "15", "a whole number, 16 or more"},
        variable{"STARPU_DISK_SWAP", "/proc/self/exe", "cannot write to /proc/self/exe"},
        variable{"STARPU_DISK_SWAP", "/proc/self/exe/x", "to a directory that you can"},
        variable{"STARPU_HOSTNAME", "a/b", "without a slash"},
        variable{"STARPU_HOSTNAME", std::string(250, 'a'), "at most 64 characters"},
        variable{"STARPU_HOME", "/proc/x", "cannot write to /proc/x/.starpu"},
        variable{"STARPU_PERF_MODEL_DIR", "/proc/x", "cannot write to /proc/x/bus"},
        variable{"STARPU_HOME", "/tmp/" + std::string(230, 'a'), "a shorter name"},
        variable{"STARPU_PERF_MODEL_DIR", "/tmp/" + std::string(240, 'a'), "a shorter"},
        variable{"XDG_CACHE_HOME", "/proc/x", "set XDG_CACHE_HOME to a"}),
    [](auto const& of) { return std::to_string(of.index) + "_" + of.param.name; });

TEST_F(starpu_environment, that_starpu_understands_is_left_alone)
{
  expect_success(run({{"STARPU_NCPU", ""}, {"STARPU_CALIBRATE", " 0"}, {"STARPU_MIN_PRIO", "0"}}));
  expect_success(run({{"STARPU_WINDOW_TIME_SIZE", "1e3"}, {"STARPU_SCHED_ALPHA", "-0.5"}}));
  expect_success(run({{"STARPU_MAIN_THREAD_CPUID", "0"}, {"STARPU_DISABLE_KERNELS", "0"}}));
  expect_success(run({{"HOME", "/dev/null"}}));
  for (std::string const list : {"0", "0 1", "0,1", "0-", "0-1 0", "0-13 0"})
    expect_success(run({{"STARPU_WORKERS_CPUID", list}}));
  auto const home = (folder_ / "new/home").string(), swap = (folder_ / "new/swap").string();
  expect_success(run({{"STARPU_DISK_SWAP", swap}, {"STARPU_DISK_SWAP_SIZE", "16"}}));
  EXPECT_TRUE(std::filesystem::exists(swap));
  expect_success(run({{"STARPU_DISK_SWAP", "/proc/self/exe"}, {"STARPU_DISK_SWAP_BACKEND", "x"}}));
  expect_success(run({{"STARPU_HOME", home}}));
  EXPECT_TRUE(std::filesystem::exists(home + "/.starpu/sampling/codelets"));
}

// StarPU would abort in every run that finds them.
TEST_F(starpu_environment, measurements_that_a_full_disk_left_empty_are_named)
{
  auto const home = (folder_ / "home").string();
  std::map<std::string, std::string> const environment{{"STARPU_HOME", home},
                                                       {"STARPU_HOSTNAME", "here"}};
  for (std::string const name : {"here.config", "here.affinity"})
  {
    auto const file = home + "/.starpu/sampling/bus/" + name;
    expect_success(run(environment));
    write_text(file, "");
    expect_refusal(run(environment), name + ": the file is empty; remove it");
    std::filesystem::remove(file);
  }
  expect_success(run(environment));
}

// StarPU would abort where it reads what another process is writing.
TEST_F(starpu_environment, of_processes_that_start_at_once_one_measures)
{
  auto const bus = folder_ / "home/.starpu/sampling/bus";
  std::filesystem::create_directories(bus);
  int const lock = ::open((bus / "here.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  write_text(folder_ / "a.csv", "0,0,0,1\n1,0,0,1\n");
  program const waiting(
      {"run", (folder_ / "a.csv").string(), "--workers", "1"},
      {{"STARPU_HOME", (folder_ / "home").string()}, {"STARPU_HOSTNAME", "here"}});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_FALSE(std::filesystem::exists(bus / "here.config"));
  ::close(lock);
  expect_success(waiting.wait());
  EXPECT_TRUE(std::filesystem::exists(bus / "here.platform.xml"));
}

// StarPU would ask for memory again and again.
TEST_F(starpu_environment, memory_that_starpu_may_not_take_is_not_needed)
{
  std::string points;
  for (int i = 0; i < 60000; ++i) points += std::to_string(i * 1e-4) + ",0,0,1\n";
  write_text(folder_ / "a.csv", points);
  program const running(
      {"run", (folder_ / "a.csv").string(), "--workers", "2", "--backend", "simd"},
      {{"STARPU_LIMIT_CPU_MEM", "1"}});
  expect_success(running.wait_at_most(std::chrono::seconds(60)));
}

// A worker without a heap of its own asks the system for each small block, and StarPU aborts if that is refused.
TEST_F(starpu_environment, little_address_space_ends_in_one_line_or_in_the_result)
{
  if (is_sanitized()) GTEST_SKIP() << "sanitizers need more address space";
  std::string points;
  std::minstd_rand random;
  auto const number = [&]
  {
    return std::to_string(random() * 0x1p-31);
  };
  for (int i = 0; i < 300000; ++i)
    points += number() + "," + number() + "," + number() + "," + number() + "\n";
  write_text(folder_ / "a.csv", points);
  bool has_run = false, was_refused = false;
  for (int const kilobytes : {80000, 85000, 90000, 92500, 95000, 100000, 110000, 120000, 125000,
                              126000, 128000, 130000, 132000, 140000, 160000, 200000})
  {
    SCOPED_TRACE(kilobytes);
    auto const start =
        "ulimit -v " + std::to_string(kilobytes) + "; exec timeout -s KILL 60 \"$PROGRAM\" ";
    if (run_in_shell(start + "--help >/dev/null").status != 0) continue; // its libraries do not fit
    has_run = true;
    auto const end = run_in_shell(start + "run '" + (folder_ / "a.csv").string() +
                                  "' --workers 2 --backend simd --check 20 >/dev/null");
    if (end.status != 0)
    {
      was_refused = true;
      expect_refusal(end, "memory|address space");
    }
    EXPECT_TRUE(end.status == 0 || kilobytes < 200000);
  }
  if (!has_run) GTEST_SKIP() << "the program's libraries need more address space";
  EXPECT_TRUE(was_refused) << "no limit was too low: the sizes above find nothing";
}

TEST_F(starpu_environment, threads_that_the_system_refuses)
{
  if (is_sanitized()) GTEST_SKIP() << "sanitizers need more address space";
  // address space for the stack of one more thread, of 8 GB
  auto const end =
      run_in_shell("ulimit -s 8000000 || exit 77; ulimit -v 12000000; exec \"$PROGRAM\" run '" +
                   (folder_ / "a.csv").string() + "' --workers 2 --backend simd");
  if (end.status == 77) GTEST_SKIP() << "the hard limit of a stack is lower";
  expect_refusal(end, "StarPU: the system can start [01] of 2 threads .*; use fewer workers");
}
#endif
