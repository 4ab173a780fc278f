// The time loop of the program on a GPU, with and without StarPU.
#include "gpu_runs.hpp"
#include "outcome.hpp"

#include <chrono>
#include <cmath>
#include <thread>
#include <tuple>
#include <utility>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  class time_loop_on_a_gpu_of : public testing::TestWithParam<std::tuple<int, char const*>>
  {};
  INSTANTIATE_TEST_SUITE_P(every, time_loop_on_a_gpu_of,
                           testing::Combine(testing::Values(2, 3), testing::Values("f32", "f64")));

  outcome move(temporary_folder const& folder, std::string const& input,
               std::vector<std::string> const& options)
  {
    SCOPED_TRACE(testing::PrintToString(options));
    return compute(folder, input, options + std::vector<std::string>{"--dt", "0.001"});
  }

  void expect_near(std::vector<std::vector<double>> const& got,
                   std::vector<std::vector<double>> const& expected, double tolerance)
  {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t d = 0; d < got.size(); ++d)
      for (std::size_t i = 0; i < got[d].size(); ++i)
        ASSERT_NEAR(got[d][i], expected[d][i], tolerance) << "point " << i << ", axis " << d;
  }
}

TEST_P(time_loop_on_a_gpu_of, points_that_the_cpu_moves_alike)
{
  auto const& [dim, precision] = GetParam();
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", dim, 5000, 3);
  auto points = read_points(folder / "a.bfma");
  points.box.reset();
  write_points(folder / "a.csv", points);
  points.masses.assign(5000, 2);
  points.velocities = points.positions;
  for (auto& column : points.velocities)
    for (double& v : column) v = 3 * v * v;
  write_points(folder / "b.csv", points);
  for (auto const* input : {"a.csv", "b.csv"})
    for (auto const* cut : {"--level", "--max-leaf-size"})
    {
      std::vector<std::string> const what{"--move",  "charges", "--steps", "10", "--precision",
                                          precision, "--param", "eps=0.1", cut,  "3"};
      auto const expected = move(
          folder, input, what + std::vector<std::string>{"--backend", "simd", "--workers", "0"});
      for (auto const& way : ways_to_a_gpu())
      {
        auto const got =
            move(folder, input, what + way + std::vector<std::string>{"--backend", "cuda"});
        bool const is_f32 = std::string(precision) == "f32";
        expect_near(got.points.positions, expected.points.positions, is_f32 ? 1e-5 : 1e-10);
        expect_near(got.points.velocities, expected.points.velocities, is_f32 ? 2e-3 : 1e-8);
        expect_near(got.points.outputs, expected.points.outputs, is_f32 ? 1 : 1e-6);
        for (auto const* key : {"leaves", "depth", "max_leaf", "interactions", "steps"})
          EXPECT_EQ(got.json.at(key), expected.json.at(key)) << key;
        EXPECT_EQ(got.json.at("gpus"), "1");
        for (auto const* stage : {"setup", "tree", "near_field", "move", "write", "energy"})
          EXPECT_GE(std::stod(got.json.at(std::string("seconds.") + stage)), 0) << stage;
      }
    }
}

// Of all pairs: the reference is the loop of the host in f64.
TEST(time_loop_on_a_gpu, energy_drifts_as_on_the_cpu)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 500, 4);
  auto points = read_points(folder / "a.bfma");
  for (double& m : points.inputs[0]) m = (1 + std::abs(m)) / 500;
  write_points(folder / "a.csv", points);
  for (auto const* level : {"0", "1"})
  {
    std::vector<std::string> const what{"--move", "gravity", "--steps", "200",     "--dt",
                                        "0.01",   "--param", "eps=0.1", "--level", level};
    auto const energies = [&](std::vector<std::string> const& where)
    {
      std::vector<std::string> arguments{"run", (folder / "a.csv").string(), "--json",
                                         (folder / "j.json").string()};
      expect_success(run_program(arguments + what + where));
      auto const json = read_json(folder / "j.json");
      return std::pair{std::stod(json.at("energy.first")), std::stod(json.at("energy.last"))};
    };
    auto const [first, last] = energies({"--backend", "simd", "--workers", "0"});
    auto const [gpu_first, gpu_last] = energies({"--backend", "cuda", "--workers", "0"});
    EXPECT_NEAR(gpu_first, first, 1e-12);
    EXPECT_NE(last, first);
    EXPECT_NEAR(gpu_last - gpu_first, last - first, 1e-8);
    EXPECT_LT(std::abs(gpu_last - gpu_first), 1e-3 * std::abs(first));
    auto const [first_f32, last_f32] =
        energies({"--backend", "cuda", "--workers", "0", "--precision", "f32"});
    EXPECT_NEAR(last_f32, last, 1e-5);
    EXPECT_NEAR(first_f32, first, 1e-12); // positions are f64
  }
}

TEST(time_loop_on_a_gpu, frames_are_those_of_the_cpu)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 300, 5);
  auto const run = [&](std::string const& stem, std::vector<std::string> const& where)
  {
    std::vector<std::string> const what{"run",      (folder / "a.bfma").string(),
                                        "--move",   "charges",
                                        "--steps",  "7",
                                        "--dt",     "0.01",
                                        "--param",  "eps=0.1",
                                        "--frames", "3",
                                        "--output", (folder / (stem + ".csv")).string()};
    expect_success(run_program(what + where));
  };
  run("cpu", {"--backend", "simd", "--workers", "0"});
  run("gpu", {"--backend", "cuda", "--workers", "0"});
  for (std::string const k : {"_000000", "_000003", "_000006", ""})
  {
    auto const got = read_points(folder / ("gpu" + k + ".csv")),
               expected = read_points(folder / ("cpu" + k + ".csv"));
    expect_near(got.positions, expected.positions, 1e-11);
    expect_near(got.velocities, expected.velocities, 1e-9);
    expect_near(got.outputs, expected.outputs, 1e-7);
  }
  // nothing has been computed between the first state and the file's
  EXPECT_EQ(read_points(folder / "gpu_000000.csv").positions,
            read_points(folder / "a.bfma").positions);
}

// Above 4, numbers of f32 are 5e-7 apart: rounding moves point 0 out of the box, which is made larger in every step. The
// box is as near to zero as one without an origin.
TEST(time_loop_on_a_gpu, frames_are_those_of_the_cpu_if_rounding_moves_a_point_out_of_the_box)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 400, 8);
  auto points = read_points(folder / "a.bfma");
  points.box.reset();
  for (auto& column : points.positions)
    for (double& x : column) x = 4 + 0.9 * x;
  points.positions[0][0] = 5.00000036; // in f32, 5.00000048
  points.positions[0][1] = 3;
  points.inputs[0][0] = points.inputs[0][1] = 0; // they stay there
  write_points(folder / "a.csv", points);
  auto const run = [&](std::string const& stem, std::string const& backend)
  {
    expect_success(run_program({"run",         (folder / "a.csv").string(),
                                "--move",      "charges",
                                "--steps",     "7",
                                "--dt",        "0.001",
                                "--param",     "eps=0.1",
                                "--precision", "f32",
                                "--box",       "3.9999999,3.9999999,3.9999999,1",
                                "--frames",    "3",
                                "--backend",   backend,
                                "--workers",   "0",
                                "--output",    (folder / (stem + ".csv")).string()}));
  };
  run("cpu", "simd");
  run("gpu", "cuda");
  for (std::string const k : {"_000000", "_000003", "_000006", ""})
  {
    SCOPED_TRACE(k);
    auto const got = read_points(folder / ("gpu" + k + ".csv")),
               expected = read_points(folder / ("cpu" + k + ".csv"));
    expect_near(got.positions, expected.positions, 1e-4);
    expect_near(got.velocities, expected.velocities, 1e-3); // half a kick is ten times as much
    expect_near(got.outputs, expected.outputs, 1);
  }
}

// Point 0 is out of the box at first only. Then point 1 has a leaf of its own, which it has not in the larger box.
TEST(time_loop_on_a_gpu, a_box_made_larger_for_one_step_is_as_given_in_the_next)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,q,vx,vy\n5.00000036,4.1,0,-625,0\n"
                               "3.49999976,4.1,0,0,0\n3.75,4.2,0,0,0\n");
  for (auto const* backend : {"simd", "cuda"})
  {
    auto const json =
        move(folder, "a.csv",
             {"--move", "gravity", "--steps", "2", "--level", "2", "--precision", "f32", "--box",
              "3.9999999,3.9999999,1", "--workers", "0", "--backend", backend})
            .json;
    EXPECT_EQ(json.at("leaves"), "2") << backend;
    EXPECT_EQ(json.at("max_leaf"), "2") << backend;
  }
}

TEST(time_loop_on_a_gpu, no_points_and_points_at_one_place)
{
  temporary_folder const folder;
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  std::string equal = "x,y,z,q,vx,vy,vz\n";
  for (int i = 0; i < 1000; ++i) equal += "1,2,3,4,1,0,-1\n";
  write_text(folder / "equal.csv", equal);
  std::vector<std::string> const what{"--move",    "gravity", "--steps",   "4",
                                      "--backend", "cuda",    "--workers", "0"};
  EXPECT_EQ(move(folder, "none.fma", what).points.size(), 0u);
  auto const got = move(folder, "equal.csv", what).points;
  for (double const x : got.positions[0]) EXPECT_NEAR(x, 1.004, 1e-15);
  EXPECT_EQ(got.positions[1], std::vector<double>(1000, 2));
}

// The messages are those of the CPU.
TEST(time_loop_on_a_gpu, bad_steps_are_named)
{
  temporary_folder const folder;
  std::vector<std::string> const on_gpu{"--backend", "cuda", "--workers", "0"};
  auto const refused = [&](std::string const& input, std::vector<std::string> const& options,
                           std::string const& expected)
  {
    std::vector<std::string> const what{"run", (folder / input).string(), "--steps", "20"};
    expect_refusal(run_program(what + options + on_gpu), expected);
  };
  // in f32, where 1 / r^3 overflows after two steps
  write_text(folder / "a.csv", "x,y,z,q,vx,vy,vz\n5,0,0,0,0,0,0\n0,0,0,1e-30,0,0,0\n"
                               "2.00000000000001,0,0,1e-30,-1,0,0\n");
  refused("a.csv",
          {"--move", "gravity", "--dt", "1", "--precision", "f32", "--frames", "1", "--output",
           (folder / "o.vtu").string()},
          "nearfield: step 2: .*a.csv: point 1 has the acceleration [-a-z]* along x; give");
  EXPECT_EQ(folder.n_files(), 4); // a.csv, two frames, and their list
  write_text(folder / "b.csv", "x,y,z,q,vx,vy,vz\n0,0,0,1,1e308,0,0\n");
  refused("b.csv", {"--move", "gravity", "--dt", "1"},
          "step 2: .*b.csv: point 0 has the coordinate inf along x");
  refused("b.csv", {"--move", "gravity", "--dt", "1", "--precision", "f32"},
          "step 1: .*b.csv: point 0 has the coordinate 1e.308, which f32 cannot represent");
  write_text(folder / "c.csv", "x,y,z,q\n0,0,0,-1\n0.5,0,0,-1\n");
  refused("c.csv", {"--move", "charges", "--dt", "0.1", "--box", "0,0,0,1"},
          "step [0-9]+: .*c.csv: point [01] has x = .*outside the box");
  write_text(folder / "d.csv", "x,y,z,q\n0,0,0,1e300\n");
  refused("d.csv", {"--move", "charges", "--dt", "0.1", "--precision", "f32"},
          "step 0: .*d.csv: point 0 has the input 1e.300, which f32 cannot represent");
}

TEST(time_loop_on_a_gpu, an_interrupt_ends_it_after_a_step_with_complete_files)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 2000, 6);
  program const running({"run",       (folder / "a.bfma").string(),
                         "--move",    "charges",
                         "--steps",   "1000000000",
                         "--dt",      "1e-6",
                         "--param",   "eps=0.1",
                         "--backend", "cuda",
                         "--workers", "0",
                         "--frames",  "3",
                         "--output",  (folder / "o.csv").string(),
                         "--json",    (folder / "o.json").string()});
  auto const last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(folder / "o_0000000003.csv") &&
         std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.send(SIGINT);
  auto const end = running.wait_at_most(std::chrono::seconds(60));
  EXPECT_EQ(end.signal, SIGINT) << end.status << end.out << end.err;
  auto const json = read_json(folder / "o.json");
  EXPECT_EQ(json.at("interrupted"), "true");
  auto const frames = std::stoul(json.at("frames"));
  EXPECT_EQ(frames, std::stoul(json.at("steps")) / 3 + 1);
  EXPECT_EQ(static_cast<std::size_t>(folder.n_files()), frames + 3);
  EXPECT_EQ(read_points(folder / "o.csv").size(), 2000u);
}
