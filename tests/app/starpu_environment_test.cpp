// What StarPU gets from its environment.
#include "program.hpp"

#include <cstdlib>
#include <optional>
#include <random>

#include <sys/file.h>

using namespace nearfield::test;

#if NEARFIELD_APP_HAS_STARPU
namespace
{
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
}

TEST_F(starpu_environment, a_home_that_cannot_be_made_is_named)
{
  for (std::string const name : {"STARPU_HOME", "XDG_CACHE_HOME", "STARPU_PERF_MODEL_DIR"})
    expect_refusal(run({{name, "/proc/x"}}),
                   "^nearfield: " + name + ": cannot create /proc/x/.*set " + name);
}

TEST_F(starpu_environment, a_home_is_made)
{
  expect_success(run({{"HOME", "/dev/null"}}));
  auto const home = (folder_ / "new/home").string();
  expect_success(run({{"STARPU_HOME", home}}));
  EXPECT_TRUE(std::filesystem::exists(home + "/.starpu/sampling/codelets"));
}

// StarPU fills its home when it starts.
TEST_F(starpu_environment, of_few_pairs_does_not_start_starpu)
{
  char const* const workers = std::getenv("STARPU_NCPU"); // of the tests
  std::optional<std::string> const kept =
      workers ? std::optional<std::string>(workers) : std::nullopt;
  unsetenv("STARPU_NCPU");
  std::filesystem::create_directory(folder_ / "home");
  auto const n_files = [&](std::vector<std::string> const& options)
  {
    std::vector<std::string> arguments{"run", (folder_ / "a.csv").string(), "--backend", "simd"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto const home = folder_ / "home";
    expect_success(run_program(arguments, {{"STARPU_HOME", home.string()}}));
    return std::distance(std::filesystem::directory_iterator(home), {});
  };
  EXPECT_EQ(n_files({}), 0);
  std::vector<std::string> loop{"--move", "gravity", "--steps", "20", "--dt", "1e-3"};
  EXPECT_EQ(n_files(loop), 0);
  loop.insert(loop.end(), {"--level", "0"});
  EXPECT_EQ(n_files(loop), 0);
  loop.insert(loop.end(), {"--workers", "1"});
  EXPECT_GT(n_files(loop), 0);
  if (kept) setenv("STARPU_NCPU", kept->c_str(), 1);
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
#endif
