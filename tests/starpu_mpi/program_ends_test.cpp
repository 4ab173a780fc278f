// How `mpirun nearfield run` ends: refusals, failures, signals.

#include "program_over_ranks.hpp"

#include <nearfield/cuda/device.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  /// Two ranks, each with words of its own behind the command.
  ending run_two(std::vector<std::string> const& first, std::vector<std::string> const& second,
                 std::string const& command = "run")
  {
    std::vector<std::string> launcher{NEARFIELD_MPIEXEC, "--quiet", "--oversubscribe", "-np", "1",
                                      program_path(),    command};
    launcher.insert(launcher.end(), first.begin(), first.end());
    launcher.insert(launcher.end(), {":", "-np", "1"});
    auto arguments = second;
    arguments.insert(arguments.begin(), command);
    return program(arguments, {}, launcher).wait();
  }

  TEST(program_over_ranks, refuses_options_that_ranks_do_not_share)
  {
    temporary_folder const folder;
    write_points(folder / "in.csv", uniform_points(200));
    auto const in = (folder / "in.csv").string();
    expect_success(run_two({in, "--level", "2", "--workers", "1", "--check", "9"},
                           {in, "--check", "9", "--level", "02", "--workers", "2", "--scheduler",
                            "eager", "--json", (folder / "second.json").string()}));
    expect_refusal(run_two({in, "--level", "2"}, {in, "--level", "1"}),
                   "mpirun: rank 1 was started with '--level 1', rank 0 with '--level 2'; ");
    expect_refusal(run_two({in}, {in, "--param", "eps=1", "--interaction", "r_over_r3"}),
                   "rank 1 was started with '--[a-z]+ [^']+', rank 0 with nothing more");
    expect_refusal(run_two({in, "--radius", "0.1"}, {in, "--radius", "0.2"}, "search"),
                   "'--radius 0.2', rank 0 with '--radius 0.1'");
    std::vector<std::string> search{NEARFIELD_MPIEXEC,
                                    "--quiet",
                                    "--oversubscribe",
                                    "-np",
                                    "1",
                                    program_path(),
                                    "search",
                                    in,
                                    "--radius",
                                    "0.1",
                                    ":",
                                    "-np",
                                    "1"};
    expect_refusal(program({"run", in}, {}, search).wait(), "'run', rank 0 with 'search'");
  }

  TEST(program_over_ranks, refuses_different_files)
  {
    temporary_folder const folder;
    auto points = uniform_points(500);
    write_points(folder / "a.csv", points);
    write_points(folder / "copy.csv", points);
    std::string text = read_text(folder / "a.csv");
    auto const digit = text.rfind('3');
    text[digit] = '4';
    write_text(folder / "changed.csv", text);
    write_text(folder / "longer.csv", read_text(folder / "a.csv") + "1,2,3,4\n");
    auto const name = [&](char const* file)
    {
      return (folder / file).string();
    };
    auto const out = name("out.csv");
    expect_success(run_two({name("a.csv"), "--output", out}, {name("copy.csv"), "--output", out}));
    expect_near(
        read_points(out),
        [&]
        {
          expect_success(run_alone({name("a.csv"), "--output", name("one.csv")}));
          return read_points(name("one.csv"));
        }(),
        1e-12);
    expect_refusal(run_two({name("a.csv")}, {name("changed.csv")}),
                   "a.csv: rank 1 finds another file than rank 0: other bytes; ");
    expect_refusal(run_two({name("a.csv")}, {name("longer.csv")}), "[0-9]+ bytes, not [0-9]+; ");
    expect_refusal(run_two({name("a.csv"), "--sources", name("a.csv")},
                           {name("a.csv"), "--sources", name("changed.csv")}),
                   "other bytes");
    expect_refusal(run_two({name("a.csv"), "--radius", "0.1"},
                           {name("changed.csv"), "--radius", "0.1"}, "search"),
                   "other bytes");
    expect_refusal(run_two({name("a.csv")}, {name("none.csv")}), "none.csv: cannot be opened");
  }

  TEST(program_over_ranks, ends_with_the_message_of_one_process)
  {
    temporary_folder const folder;
    auto const in = (folder / "in.csv").string(), out = (folder / "out.csv").string();
    std::string rows = "x,y,z,q\n";
    for (int i = 0; i < 1000; ++i) rows += std::to_string(i) + ",2,3,4\n";
    write_text(in, rows + "1,2,?,4\n"); // on the last rank
    expect_the_refusal(folder, {in, "--output", out});
    write_text(in, rows);
    expect_the_refusal(folder, {in, "--box", "0,0,0,500", "--output", out});
    // once StarPU runs on all ranks
    expect_the_refusal(folder, {in, "--interaction", "dipole_tensor", "--output", out});
    expect_the_refusal(folder, {in, "--output", (folder / "none" / "out.csv").string()});
  }

  TEST(program_over_ranks, leaves_no_file_if_one_cannot_be_written)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", uniform_points(1000));
    auto const in = (folder / "in.bfma").string();
    std::filesystem::create_symlink("/dev/full", folder / "out.csv");
    expect_the_refusal(folder, {in, "--output", (folder / "out.csv").string()});
    std::filesystem::create_symlink("/dev/full", folder / "out_rank1.vtu");
    expect_refusal(run_over(2, {in, "--output", (folder / "out.vtu").string()}),
                   "out_rank1.vtu: cannot be written: No space left");
    EXPECT_EQ(folder.n_files(), 3);
    // the pieces of an earlier run stay
    write_text(folder / "old_rank0.vtu", "old");
    std::filesystem::create_symlink("/dev/full", folder / "full.json");
    expect_refusal(run_over(2, {in, "--output", (folder / "old.vtu").string(), "--json",
                                (folder / "full.json").string()}),
                   "full.json: cannot be written: No space left");
    EXPECT_EQ(read_text(folder / "old_rank0.vtu"), "old");
    expect_refusal(run_over(2, {in, "--output", (folder / "old.vtu").string(), "--json",
                                (folder / "old_rank0.vtu").string()}),
                   "--output: ");
  }

  TEST(program_over_ranks, refuses_what_it_cannot_do)
  {
    expect_refusal(run_over(2, {"in.csv", "--workers", "0"}),
                   "--workers 0: not available over ranks");
    expect_refusal(run_over(2, {"in.csv"}, "tune"), "tune: found 2 ranks");
    if (!nearfield::gpus().empty()) return;
    expect_refusal(run_over(2, {"in.csv", "--backend", "cuda"}), "--backend cuda: ");
    expect_refusal(run_over(2, {"in.csv", "--backend", "cuda", "--radius", "1"}, "search"),
                   "--backend cuda: ");
    expect_refusal(run_over(2, {"in.csv", "--gpus", "1"}), "--gpus: ");
  }

  /// The children of a process that run the program.
  std::vector<::pid_t> ranks_of(::pid_t launcher)
  {
    std::vector<::pid_t> ranks;
    auto const tasks = "/proc/" + std::to_string(launcher) + "/task";
    std::error_code gone;
    for (auto const& task : std::filesystem::directory_iterator(tasks, gone))
    {
      std::ifstream children(task.path() / "children");
      for (::pid_t id = 0; children >> id;)
        if (read_text("/proc/" + std::to_string(id) + "/comm") == "nearfield\n")
          ranks.push_back(id);
    }
    return ranks;
  }

  TEST(program_over_ranks, ends_a_loop_by_a_signal_to_one_rank)
  {
    temporary_folder const folder;
    auto points = uniform_points(200);
    points.input_names = {"m"};
    for (double& m : points.inputs[0]) m = 1. / 200;
    write_points(folder / "in.csv", points);
    program const running({"run", (folder / "in.csv").string(), "--move", "gravity", "--steps",
                           "1000000", "--dt", "1e-4", "--param", "eps=0.1", "--frames", "1000000",
                           "--output", (folder / "out.csv").string()},
                          {}, mpirun(2));
    auto const first_frame = folder / "out_0000000.csv";
    for (int tries = 0; tries < 1000 && !std::filesystem::exists(first_frame); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    auto const ranks = ranks_of(running.id());
    ASSERT_EQ(ranks.size(), 2u);
    ::kill(ranks[1], SIGTERM);
    auto const end = running.wait_at_most(std::chrono::seconds(10));
    EXPECT_THAT(end.out, testing::ContainsRegex("moved +gravity, [0-9]+ of 1000000 steps"));
    EXPECT_THAT(end.out, testing::HasSubstr("interrupted   by a signal"));
    EXPECT_EQ(read_points(folder / "out.csv").size(), 200u);
  }

  TEST(program_over_ranks, ends_when_a_rank_is_killed)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", uniform_points(300'000));
    for (std::size_t const which : {0, 1})
    {
      program const running({"run", (folder / "in.bfma").string(), "--level", "0", "--output",
                             (folder / "out.csv").string()},
                            {}, mpirun(2));
      auto const has_threads = [](::pid_t id) // of MPI, StarPU and StarPU-MPI
      {
        std::error_code gone;
        auto const tasks =
            std::filesystem::directory_iterator("/proc/" + std::to_string(id) + "/task", gone);
        return std::distance(begin(tasks), end(tasks)) >= 5;
      };
      std::vector<::pid_t> ranks;
      for (int tries = 0; tries < 1000; ++tries)
      {
        ranks = ranks_of(running.id());
        std::ranges::sort(ranks);
        if (ranks.size() == 2 && std::ranges::all_of(ranks, has_threads)) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      ASSERT_EQ(ranks.size(), 2u);
      ::kill(ranks[which], SIGKILL);
      auto const end = running.wait_at_most(std::chrono::seconds(10));
      EXPECT_EQ(end.signal, 0);
      EXPECT_GT(end.status, 0);
      EXPECT_EQ(folder.n_files(), 1);
    }
  }
}
