// The program on a GPU, with and without StarPU.
#include "gpu_runs.hpp"
#include "named_interactions.hpp"
#include "read_json.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/io/points.hpp>

#include <cuda_runtime_api.h>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  // Runs with a check, which passes.
  json_values expect_checked_run(temporary_folder const& folder, std::string const& input,
                                 std::vector<std::string> const& options)
  {
    std::vector<std::string> arguments{"run",    (folder / input).string(),   "--check", "500",
                                       "--json", (folder / "j.json").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto const end = run_program(arguments);
    expect_success(end);
    EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
    return read_json(folder / "j.json");
  }

  bool contains_task_of(json_values const& json, std::string const& implementation)
  {
    for (auto const& [key, value] : json)
      if (key.starts_with("tasks.") && key.ends_with(".implementation") && value == implementation)
        return true;
    return false;
  }

  class on_a_gpu : public testing::TestWithParam<std::tuple<int, char const*>>
  {};
  INSTANTIATE_TEST_SUITE_P(every, on_a_gpu,
                           testing::Combine(testing::Values(2, 3), testing::Values("f32", "f64")));
}

TEST(on_a_gpu_by_name, every_interaction_passes_its_check)
{
  temporary_folder const folder;
  int number = 0;
  for (interaction_info const& of : interaction_infos())
  {
    if (!of.is_built) continue;
    std::string const precision = ++number % 2 ? "f32" : "f64";
    SCOPED_TRACE(std::string(of.name) + " " + precision);
    write_points(folder / "points.csv", points_for(of, 500));
    expect_checked_run(folder, "points.csv",
                       {"--interaction", std::string(of.name), "--dim", std::to_string(of.dim),
                        "--backend", "cuda", "--workers", "0", "--precision", precision});
  }
}

TEST(on_a_gpu_by_name, points_have_parameters)
{
  auto const found = one_with_parameters_of_points();
  if (!found) GTEST_SKIP() << "no built-in interaction reads parameters of points";
  temporary_folder const folder;
  write_points(folder / "points.csv", points_for(*found, 5000));
  std::vector<std::string> const two_sets{"--sources", (folder / "points.csv").string()};
  for (auto const& way : ways_to_a_gpu())
    for (auto const& sources : {std::vector<std::string>{}, two_sets})
      expect_checked_run(folder, "points.csv",
                         std::vector<std::string>{"--interaction", std::string(found->name),
                                                  "--dim", std::to_string(found->dim), "--backend",
                                                  "cuda"} +
                             way + sources);
}

TEST_P(on_a_gpu, runs_pass_their_check)
{
  auto const& [dim, precision] = GetParam();
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", dim, 20000, 1);
  write_random_points(folder / "b.bfma", dim, 15000, 2);
  std::vector<std::string> const two_sets{"--sources", (folder / "b.bfma").string()};
  for (auto const& way : ways_to_a_gpu())
    for (auto const* leaf_size : {"8", "400"}) // one-sided, mutual
      for (auto const& sources : {std::vector<std::string>{}, two_sets})
      {
        std::vector<std::string> options{"--backend",       "cuda",          "--precision",
                                         precision,         "--interaction", "val_grad_one_over_r",
                                         "--max-leaf-size", leaf_size};
        options.insert(options.end(), way.begin(), way.end());
        options.insert(options.end(), sources.begin(), sources.end());
        SCOPED_TRACE(testing::PrintToString(options));
        auto const json = expect_checked_run(folder, "a.bfma", options);
        EXPECT_EQ(json.at("backend"), "cuda");
        EXPECT_EQ(json.at("gpus"), "1");
        if (way[0] == "--workers")
        {
          EXPECT_EQ(json.at("tasks"), "[]");
        }
        else
        {
          EXPECT_TRUE(contains_task_of(json, "cuda"));
        }
      }
}

// Most points lie outside the box: a tree moves them, on the GPU or by tasks.
TEST_P(on_a_gpu, runs_in_a_box_of_any_shape_pass_their_check)
{
  auto const& [dim, precision] = GetParam();
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", dim, 10000, 8);
  write_random_points(folder / "b.bfma", dim, 5000, 9);
  std::vector<std::string> const two_sets{"--sources", (folder / "b.bfma").string()};
  for (auto const& way : ways_to_a_gpu())
    for (auto const* leaf_size : {"8", "400"}) // one-sided, mutual
      for (auto const& sources : {std::vector<std::string>{}, two_sets})
      {
        // in f32 on a plane two points are too near for the gradient, of which the program warns
        auto const options =
            std::vector<std::string>{
                "--backend",       "cuda",
                "--precision",     precision,
                "--interaction",   dim == 2 ? "one_over_r" : "val_grad_one_over_r",
                "--max-leaf-size", leaf_size,
                "--cell",          dim == 2 ? "0.9,0,0.4,0.8" : "0.9,0,0,0.4,0.8,0,-0.3,0.2,1"} +
            way + sources;
        SCOPED_TRACE(testing::PrintToString(options));
        EXPECT_EQ(expect_checked_run(folder, "a.bfma", options).at("backend"), "cuda");
      }
}

TEST(on_a_gpu, no_points_one_point_and_several_right_hand_sides)
{
  temporary_folder const folder;
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  write_text(folder / "one.csv", "1,2,3,4\n");
  write_text(folder / "two.csv", "x,y,z,q1,q2\n0,0,0,1,10\n2,0,0,3,40\n");
  for (auto const* name : {"none.fma", "one.csv", "two.csv"})
    for (auto options : ways_to_a_gpu())
    {
      SCOPED_TRACE(name + testing::PrintToString(options));
      options.insert(options.end(), {"--backend", "cuda"});
      EXPECT_EQ(expect_checked_run(folder, name, options).at("gpus"), "1");
    }
}

// One GPU is driven without StarPU, unless something asks for that.
TEST(on_a_gpu, auto_takes_all_devices_and_the_cpu_back_ends_none)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 20000, 3);
  auto const all = expect_checked_run(folder, "a.bfma", {});
  [[maybe_unused]] auto const n_gpus = std::to_string(gpus().size());
#if NEARFIELD_APP_HAS_GPU_TASKS
  EXPECT_EQ(all.at("gpus"), n_gpus);
  EXPECT_EQ(contains_task_of(all, "cuda"), gpus().size() > 1);
  for (std::vector<std::string> const& options :
       {std::vector<std::string>{"--gpus", n_gpus}, {"--scheduler", "lws"}})
  {
    auto const json = expect_checked_run(folder, "a.bfma", options);
    EXPECT_EQ(json.at("gpus"), n_gpus);
    EXPECT_TRUE(contains_task_of(json, "cuda"));
  }
#else
  EXPECT_EQ(all.at("gpus"), "1");
#endif
  for (std::vector<std::string> const& options : {std::vector<std::string>{"--workers", "0"},
                                                  {"--backend", "simd"},
                                                  {"--backend", "scalar"},
#if NEARFIELD_APP_HAS_GPU_TASKS
                                                  {"--gpus", "0"}
#endif
       })
  {
    auto const json = expect_checked_run(folder, "a.bfma", options);
    EXPECT_EQ(json.at("gpus"), "0");
    EXPECT_FALSE(contains_task_of(json, "cuda"));
  }
}

TEST(on_a_gpu, says_that_auto_ran_there)
{
  if (gpus().size() > 1) GTEST_SKIP() << "StarPU drives several";
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 2000, 3);
  auto const end = run_program({"run", (folder / "a.bfma").string()});
  expect_success(end);
  EXPECT_THAT(end.out, testing::HasSubstr("near field    auto (cuda), f64, 1 worker, 1 GPU: "));
}

TEST(on_a_gpu, bad_points_have_the_messages_of_the_cpu)
{
  temporary_folder const folder;
  write_text(folder / "far.csv", "0,0,0,1\n1e39,0,0,1\n");
  write_text(folder / "big.csv", "0,0,0,1\n1,0,0,1e39\n");
  write_text(folder / "out.csv", "0,0,0,1\n1,0,2.5,1\n");
  for (auto const* where : {"cuda", "simd"})
  {
    auto const refused =
        [&](std::string const& input, std::vector<std::string> options, std::string const& expected)
    {
      options.insert(options.begin(),
                     {"run", (folder / input).string(), "--backend", where, "--workers", "0"});
      expect_refusal(run_program(options), expected);
    };
    refused("far.csv", {"--precision", "f32"},
            "far.csv: point 1 has the coordinate 1e.39, which f32 cannot represent");
    refused("big.csv", {"--precision", "f32"},
            "big.csv: point 1 has the input 1e.39, which f32 cannot represent");
    for (auto const* precision : {"f32", "f64"})
      refused("out.csv", {"--precision", precision, "--box", "0,0,0,2"},
              "out.csv: point 1 has z = 2.5, outside the box of half width 2 around 0 ");
  }
}

TEST(on_a_gpu, more_gpus_than_there_are)
{
  temporary_folder const folder;
#if NEARFIELD_APP_HAS_GPU_TASKS
  expect_refusal(
      run_program({"run", (folder / "none.csv").string(), "--backend", "cuda", "--gpus", "1000"}),
      "--gpus: found 1000, this machine has " + std::to_string(gpus().size()));
#else
  GTEST_SKIP() << "no StarPU with CUDA";
#endif
}

// Memory that others hold is as missing as memory that a GPU does not have.
TEST(on_a_gpu, memory_that_runs_out_is_one_line)
{
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", 3, 20000, 4);
  std::vector<void*> held;
  for (std::size_t size = std::size_t(1) << 38; size >= std::size_t(1) << 20; size /= 2)
    for (void* memory = nullptr; cudaMalloc(&memory, size) == cudaSuccess;) held.push_back(memory);
  static_cast<void>(cudaGetLastError());
  std::vector<std::vector<std::string>> ways{{"--backend", "cuda", "--workers", "0"}};
#if !NEARFIELD_APP_HAS_GPU_TASKS
  ways.push_back({}); // auto goes on as StarPU tasks on GPUs, never on a CPU
#endif
  std::vector<ending> ends;
  for (auto const& way : ways)
    ends.push_back(run_program(std::vector<std::string>{"run", (folder / "a.bfma").string(),
                                                        "--output", (folder / "b.csv").string()} +
                               way));
  for (void* const memory : held) cudaFree(memory);
  for (auto const& end : ends) expect_refusal(end, "out of memory.*smaller problem");
  EXPECT_EQ(folder.n_files(), 1);
}

TEST_P(on_a_gpu, a_search_writes_what_the_cpu_writes)
{
  int const dim = std::get<0>(GetParam());
  std::string const precision = std::get<1>(GetParam());
  temporary_folder const folder;
  write_random_points(folder / "a.bfma", dim, 20000, 5);
  // the points lie in [-1, 1]
  std::string shifted;
  auto const points = read_points(folder / "a.bfma");
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int a = 0; a < dim; ++a)
      shifted += std::to_string(points.positions[static_cast<std::size_t>(a)][i] + 1.5) +
                 (a + 1 < dim ? "," : "\n");
  write_text(folder / "a.csv", shifted);
  std::string types, excluded;
  for (std::size_t i = 0; i < points.size(); ++i)
  {
    types += i % 3 == 0 ? "a\n" : "b\n";
    excluded += std::to_string(i) + " " + std::to_string(i * 7 % points.size()) + "\n";
  }
  write_text(folder / "types.txt", types);
  write_text(folder / "pairs.txt", excluded);
  std::vector<std::vector<std::string>> const boxes{
      {},
      {"--types", (folder / "types.txt").string(), "--type-cutoffs", "a:a=0,a:b=0.025", "--exclude",
       (folder / "pairs.txt").string()},
      {"--periodic", dim == 2 ? "3,0" : "3,0,4"},
      {"--cell", dim == 2 ? "1.7,0,0.4,1.6" : "1.7,0,0,0.4,1.6,0,-0.3,0.2,2"}};
  for (auto const& box : boxes)
    for (auto const* list : {"half", "full", "count", "table"})
      for (auto const* cells : {"1", "2"})
      {
        auto const search = [&](std::string const& backend)
        {
          std::vector<std::string> options{"search",
                                           (folder / "a.csv").string(),
                                           "--dim",
                                           std::to_string(dim),
                                           "--radius",
                                           dim == 2 ? "0.03" : "0.12",
                                           "--precision",
                                           precision,
                                           "--list",
                                           list,
                                           "--backend",
                                           backend,
                                           "--output",
                                           (folder / (backend + ".csv")).string(),
                                           "--json",
                                           (folder / "j.json").string(),
                                           "--cells-per-cutoff",
                                           cells};
          options = options + box;
          bool const repeats = !box.empty() && box[0] != "--types";
          if (repeats && *list != 'c' && *list != 't') options.push_back("--shifts");
          SCOPED_TRACE(testing::PrintToString(options));
          expect_success(run_program(options));
          return read_json(folder / "j.json");
        };
        auto const on_cpu = search("simd"), on_gpu = search("cuda"), automatic = search("auto");
        EXPECT_EQ(automatic.at("backend"), "cuda");
        for (auto const* key : {"pairs", "mean_neighbours", "max_neighbours", "bytes"})
          EXPECT_EQ(on_cpu.at(key), on_gpu.at(key)) << key;
        EXPECT_GT(std::stoul(on_gpu.at("pairs")), 20000u);
        EXPECT_GT(std::stoull(on_gpu.at("peak_memory")), std::stoull(on_gpu.at("bytes")));
        EXPECT_TRUE(read_text(folder / "simd.csv") == read_text(folder / "cuda.csv"));
        EXPECT_TRUE(read_text(folder / "simd.csv") == read_text(folder / "auto.csv"));
      }
}

TEST(on_a_gpu, a_search_of_no_points_and_one_that_is_too_large)
{
  temporary_folder const folder;
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  write_text(folder / "one.csv", "1,2,3\n");
  write_text(folder / "two.csv", "0,0,0\n1,0,0\n");
  std::string many;
  for (int i = 0; i < 100; ++i) many += std::to_string(i) + ",0,0\n";
  write_text(folder / "many.csv", many);
  for (auto const* list : {"half", "full", "count", "table"})
    for (auto const* name : {"none.fma", "one.csv"})
      expect_success(
          run_program({"search", (folder / name).string(), "--radius", "2", "--list", list,
                       "--backend", "cuda", "--output", (folder / "out.npy").string()}));
  std::filesystem::remove(folder / "out.npy");
  expect_refusal(
      run_program({"search", (folder / "two.csv").string(), "--radius", "2", "--backend", "cuda",
                   "--max-memory", "7", "--output", (folder / "out.npy").string()}),
      "--max-memory: the half list has 1 pair in 8 bytes, more than the 7 bytes given");
  // 1.6 TB, which no GPU holds
  expect_refusal(run_program({"search", (folder / "many.csv").string(), "--radius", "2",
                              "--backend", "cuda", "--list", "table", "--width", "4000000000",
                              "--max-memory", "18446744073709551615"}),
                 "memory");
  EXPECT_EQ(folder.n_files(), 4);
}

TEST(on_a_gpu, info_lists_it)
{
  auto const end = run_program({"info"});
  expect_success(end);
  auto const device = gpus().front();
  EXPECT_THAT(end.out, testing::ContainsRegex("GPUs          0: " + device.name +
                                              ", [0-9.]+ GiB, compute capability " +
                                              std::to_string(device.major) + "\\."));
}

TEST(on_a_gpu, the_demo_has_its_rows)
{
  temporary_folder const folder;
  auto const end = run_program({"demo", "--out", (folder / "demo").string()});
  expect_success(end);
  EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("FAIL")));
  for (auto const* precision : {"f32", "f64"})
  {
    EXPECT_THAT(end.out,
                testing::ContainsRegex(std::string("CUDA +") + precision + " [^\n]*PASS\n"));
    EXPECT_THAT(end.out, testing::ContainsRegex(std::string("CUDA +") + precision +
                                                " [^\n]*same pairs as brute force +PASS\n"));
#if NEARFIELD_APP_HAS_GPU_TASKS
    EXPECT_THAT(end.out,
                testing::ContainsRegex(std::string("CPU \\+ GPU +") + precision + " [^\n]*PASS\n"));
#endif
  }
}
