// `mpirun nearfield run` beside `nearfield run`.

#include "program.hpp"

#include <nearfield/io/points.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  std::vector<std::string> mpirun(int n)
  {
    return {NEARFIELD_MPIEXEC, "--quiet", "--oversubscribe", "-np", std::to_string(n)};
  }

  ending run_over(int n, std::vector<std::string> arguments)
  {
    arguments.insert(arguments.begin(), "run");
    return program(arguments, {}, mpirun(n)).wait();
  }

  ending run_alone(std::vector<std::string> arguments)
  {
    arguments.insert(arguments.begin(), "run");
    return run_program(arguments);
  }

  point_set cloud(std::size_t n)
  {
    auto points = awkward_points(3, n, 1, 0);
    double i = 0;
    for (auto& column : points.positions)
      for (double& x : column) x = std::fmod(0.6180339887 * i * std::sqrt(i), 1.), ++i;
    for (double& q : points.inputs[0]) q = std::fmod(0.31 * ++i, 1.) - 0.4;
    return points;
  }

  void expect_near(point_set const& got, point_set const& wanted, double tolerance)
  {
    EXPECT_EQ(got.positions, wanted.positions);
    EXPECT_EQ(got.inputs, wanted.inputs);
    EXPECT_EQ(got.output_names, wanted.output_names);
    ASSERT_EQ(got.outputs.size(), wanted.outputs.size());
    for (std::size_t c = 0; c < got.outputs.size(); ++c)
    {
      double largest = 0;
      for (double const value : wanted.outputs[c]) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got.outputs[c][i], wanted.outputs[c][i], tolerance * largest) << "point " << i;
    }
  }

  TEST(program_over_ranks, has_the_results_of_one_process)
  {
    temporary_folder const folder;
    auto const file = [&](char const* name)
    {
      return (folder / name).string();
    };
    write_points(file("in.csv"), cloud(3000));
    std::vector<std::string> const options{file("in.csv"),
                                           "--interaction",
                                           "val_grad_one_over_r",
                                           "--max-leaf-size",
                                           "20",
                                           "--check",
                                           "50"};
    auto const with = [&](char const* name, char const* json = nullptr)
    {
      auto all = options;
      all.insert(all.end(), {"--output", file(name)});
      if (json) all.insert(all.end(), {"--json", file(json)});
      return all;
    };
    expect_success(run_alone(with("one.csv")));
    auto const wanted = read_points(file("one.csv"));
    for (int const n : {1, 2, 3})
    {
      SCOPED_TRACE(testing::Message() << n << " ranks");
      auto const end = run_over(n, with("many.csv", "many.json"));
      expect_success(end);
      EXPECT_THAT(read_text(file("many.json")), testing::HasSubstr("\"points\": 3000"));
      expect_near(read_points(file("many.csv")), wanted, 1e-12);
      if (n < 3) continue;
      EXPECT_THAT(end.out, testing::ContainsRegex(
                               "points +3000, 3D, on 3 ranks\ntree .*\nnear field .*, 3 workers.*\n"
                               "check  .*: PASS\nwritten .*many.csv\nwritten .*many.json\n$"));
      EXPECT_THAT(read_text(file("many.json")), testing::HasSubstr("\"ranks\": 3"));
    }
  }

  /// In one leaf, that of one rank, sums have the bits of one process, and so must files.
  TEST(program_over_ranks, reads_and_writes_the_bytes_of_one_process)
  {
    temporary_folder const folder;
    auto const points = cloud(100);
    write_text(folder / "in.csv", "x,y,m,q1,q2\n0,0,1,2,3\n1,1,2,3,4\n"); // fewer rows than ranks
    for (char const* name : {"in.fma", "in.bfma", "in.xyz"}) write_points(folder / name, points);
    struct run
    {
      char const *in, *out, *precision;
    };
    for (auto const& [in, out, precision] : {run{"in.fma", "out.bfma", "f32"},
                                             {"in.bfma", "out.xyz", "f64"},
                                             {"in.xyz", "out.fma", "f32"},
                                             {"in.csv", "out.csv", "f64"}})
    {
      SCOPED_TRACE(in);
      std::vector<std::string> arguments{(folder / in).string(),
                                         "--level",
                                         "0",
                                         "--precision",
                                         precision,
                                         "--workers",
                                         "1",
                                         "--output",
                                         (folder / out).string()};
      expect_success(run_alone(arguments));
      auto const wanted = read_text(folder / out);
      std::filesystem::remove(folder / out);
      expect_success(run_over(3, arguments));
      EXPECT_EQ(read_text(folder / out), wanted);
    }
  }

  TEST(program_over_ranks, writes_a_piece_of_each_rank_for_paraview)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", cloud(10));
    expect_success(run_over(2, {(folder / "in.bfma").string(), "--interaction", "grad_one_over_r",
                                "--output", (folder / "out.vtu").string()}));
    auto const whole = read_text(folder / "out.pvtu");
    EXPECT_THAT(whole, testing::HasSubstr("\"gradient\" NumberOfComponents=\"3\""));
    for (char const* piece : {"out_rank0.vtu", "out_rank1.vtu"})
    {
      EXPECT_THAT(whole, testing::HasSubstr("<Piece Source=\"" + std::string(piece) + "\"/>"));
      EXPECT_THAT(read_text(folder / piece), testing::HasSubstr("NumberOfPoints=\"5\""));
    }
    EXPECT_EQ(folder.n_files(), 4);
  }

  TEST(program_over_ranks, takes_a_file_without_points)
  {
    temporary_folder const folder;
    write_text(folder / "in.csv", "x,y,z,q\n");
    expect_success(
        run_over(2, {(folder / "in.csv").string(), "--output", (folder / "out.csv").string()}));
    EXPECT_EQ(read_text(folder / "out.csv"), "x,y,z,q,phi\n");
  }

  /// One line, that of one process, and no file.
  void expect_the_refusal(temporary_folder const& folder, std::vector<std::string> const& arguments)
  {
    auto const n_files = folder.n_files();
    auto const alone = run_alone(arguments), over = run_over(2, arguments);
    expect_refusal(over, "");
    EXPECT_EQ(over.err, own_messages(alone));
    EXPECT_EQ(folder.n_files(), n_files);
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
    write_points(folder / "in.bfma", cloud(1000));
    auto const in = (folder / "in.bfma").string();
    std::filesystem::create_symlink("/dev/full", folder / "out.csv");
    expect_the_refusal(folder, {in, "--output", (folder / "out.csv").string()});
    std::filesystem::create_symlink("/dev/full", folder / "out_rank1.vtu");
    expect_refusal(run_over(2, {in, "--output", (folder / "out.vtu").string()}),
                   "out_rank1.vtu: cannot be written: No space left");
    EXPECT_EQ(folder.n_files(), 3);
  }

  TEST(program_over_ranks, refuses_what_it_cannot_do)
  {
    struct refused
    {
      std::vector<std::string> options;
      char const* message;
    };
    for (auto const& [options, message] :
         {refused{{"--backend", "cuda"}, "--backend cuda: not available over ranks"},
          {{"--max-leaf-size", "auto"}, "--max-leaf-size auto: not available"},
          {{"--move", "gravity", "--steps", "1", "--dt", "1"}, "--move: not available"}})
    {
      auto arguments = options;
      arguments.insert(arguments.begin(), "in.csv");
      arguments.insert(arguments.begin(), "run");
      // before MPI starts
      expect_refusal(
          run_program(arguments, {{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}}),
          message);
    }
    expect_refusal(program({"search", "in.csv", "--radius", "1"}, {}, mpirun(2)).wait(),
                   "search: found 2 ranks");
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

  TEST(program_over_ranks, ends_when_a_rank_is_killed)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", cloud(300'000));
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
