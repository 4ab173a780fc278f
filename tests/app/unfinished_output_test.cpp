// What `nearfield run` leaves when a signal or a full disk ends it: no file.
#include "program.hpp"
#include "random_points.hpp"

#include <nearfield/io/points.hpp>

#include <gmock/gmock.h>

using namespace nearfield;
using namespace nearfield::test;

// On the calling thread and, where it is built, in StarPU, which catches signals itself.
TEST(run, an_interrupt_leaves_no_file)
{
  temporary_folder const folder;
  write_points(folder / "a.bfma", random_points(3, 300000, 8));
  for (std::vector<std::string> const& where : {std::vector<std::string>{}, {"--workers", "0"}})
  {
    std::vector<std::string> arguments{"run",       (folder / "a.bfma").string(),
                                       "--level",   "0",
                                       "--backend", "scalar",
                                       "--output",  (folder / "b.csv").string(),
                                       "--json",    (folder / "b.json").string()};
    arguments.insert(arguments.end(), where.begin(), where.end());
    program const running(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    running.send(SIGINT);
    auto const end = running.wait_at_most(std::chrono::seconds(20));
    EXPECT_EQ(end.signal, SIGINT) << end.status << end.out << end.err;
    EXPECT_EQ(folder.n_files(), 1);
  }
}

TEST(run, an_output_that_does_not_fit_leaves_no_file)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 5000, 9));
  auto const of = [&](std::string const& name)
  {
    return " '" + (folder / name).string() + "'";
  };
  auto const command = "exec \"$PROGRAM\" run" + of("a.csv") + " --workers 0 --json" +
                       of("b.json") + " --output" + of("b.csv");
  expect_refusal(run_in_shell("ulimit -f 8; " + command + " > /dev/null"),
                 "b.csv: cannot be written: File too large");
  EXPECT_EQ(folder.n_files(), 1);
  // closed, its number must not become that of an output
  for (auto const* out : {" > /dev/full", " >&-"})
  {
    expect_refusal(run_in_shell(command + out), "standard output: cannot be written");
    EXPECT_EQ(folder.n_files(), 1) << out;
  }
}

// The limit is 512 or 1024 bytes, as the shell counts: more than the output and the summary, less
// than the JSON, which has the name of the input.
TEST(run, does_not_say_that_it_wrote_what_a_later_failure_takes_back)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0 0 0 1\n1 0 0 1\n");
  std::string input = "a.csv";
  while (input.size() < 1024) input.insert(0, "./");
  for (auto const* command : {"run --workers 0", "search --radius 2 --backend simd"})
  {
    expect_refusal(run_in_shell("cd '" + folder.path().string() +
                                "'; ulimit -f 1; exec \"$PROGRAM\" " + command + " " + input +
                                " --output b.csv --json b.json > printed"),
                   "b.json: cannot be written: File too large");
    EXPECT_THAT(read_text(folder / "printed"), testing::HasSubstr("points        2, 3D\n"));
    EXPECT_THAT(read_text(folder / "printed"), testing::Not(testing::HasSubstr("written")));
    EXPECT_EQ(folder.n_files(), 2);
  }
}
