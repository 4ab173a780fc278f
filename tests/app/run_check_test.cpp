// What `nearfield run` says of its results: --check, values that are not finite, --json - and what it prints.
#include "program.hpp"
#include "random_points.hpp"
#include "read_json.hpp"

#include <gmock/gmock.h>

#include <map>

using namespace nearfield::test;

// Entries of K that cancel, K near a zero of its own, K that a rounding of |r|^2 changes by many
// roundings, K below the normal numbers: none of that is an error of the sums.
TEST(run, a_check_passes_where_K_is_small_or_ill_conditioned)
{
  temporary_folder const folder;
  struct
  {
    std::string name, points;
    std::vector<std::string> options;
  } const cases[] = {
      {"dipole_tensor", "x,y,z,q1,q2,q3\n0,0,0,1,0,0\n1,1,1,1,0,0\n", {}},
      {"dipole_tensor", "x,y,q1,q2\n0,0,1,0\n0.3,0.42426406871192851,1,0\n", {}},
      {"log_r", "x,y,q\n0,0,1\n1,0,1\n", {}},
      {"log_r", "x,y,q\n0,0,1\n0.6,0.8,1\n", {}},
      {"log_r", "x,y,q\n0,0,1\n0.5000001,0.86602540378443865,1\n", {}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1\n", {"--param", "sigma=0.095"}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1\n", {"--param", "sigma=0.092"}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1e6\n", {"--param", "sigma=0.09"}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1\n", {"--param", "sigma=0.0328"}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1e6\n", {"--param", "sigma=0.0324"}},
      {"gaussian", "0,0,0,1\n0.5,0.7,0.1,1\n", {"--param", "sigma=0.01"}},
  };
  for (auto const& which : cases)
  {
    write_text(folder / "a.csv", which.points);
    for (auto const* precision : {"f32", "f64"})
      for (auto const* backend : {"scalar", "simd"})
      {
        std::vector<std::string> arguments{"run",           (folder / "a.csv").string(),
                                           "--interaction", which.name,
                                           "--precision",   precision,
                                           "--backend",     backend,
                                           "--workers",     "0",
                                           "--check",       "2"};
        arguments.insert(arguments.end(), which.options.begin(), which.options.end());
        auto const end = run_program(arguments);
        EXPECT_EQ(end.status, 0) << which.name << " " << precision << " " << backend << "\n"
                                 << which.points << end.out << end.err;
      }
  }
}

// 1 / |r|^3 = 1e-42 has few digits left in f32, which costs the sum five in ten thousand.
TEST(run, a_check_fails_where_a_sum_is_off_by_less_than_a_thousandth)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0,0,1\n1e14,0,0,1\n");
  for (auto const* interaction : {"grad_one_over_r", "r_over_r3"})
  {
    auto const end = run_program({"run", (folder / "a.csv").string(), "--interaction", interaction,
                                  "--precision", "f32", "--backend", "scalar", "--workers", "0",
                                  "--check", "2"});
    EXPECT_EQ(end.status, 1) << interaction << "\n" << end.out << end.err;
    EXPECT_THAT(end.out, testing::HasSubstr("FAIL"));
  }
}

// Between two clusters f32 keeps about 5 bits of their coordinates, which the check excuses.
TEST(run, a_check_says_what_rounding_the_coordinates_changes)
{
  temporary_folder const folder;
  auto clusters = random_points(3, 200, 1);
  clusters.box.reset();
  for (auto& column : clusters.positions)
    for (std::size_t i = 0; i < column.size(); ++i) column[i] += i % 2 ? 1e8 : 1e8 + 1e5;
  write_points(folder / "far.csv", clusters);
  write_text(folder / "near.csv", "0,0,0,1\n1,0,0,1\n");
  auto const run = [&](std::string const& name, std::string const& precision)
  {
    auto end = run_program({"run", (folder / name).string(), "--precision", precision, "--workers",
                            "0", "--check", "50", "--json", (folder / "out.json").string()});
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
    auto const json = read_json(folder / "out.json");
    EXPECT_EQ(std::stod(json.at("check.plain_relative_error")) >
                  100 * std::stod(json.at("check.limit")),
              own_messages(end) != "");
    return own_messages(end);
  };
  EXPECT_THAT(run("far.csv", "f32"),
              testing::MatchesRegex("nearfield: warning: rounding the coordinates to f32 changes "
                                    "sums by up to [1-9][.][0-9]e-0[234], which --check allows; "
                                    "--precision f64 keeps them\n"));
  EXPECT_EQ(run("far.csv", "f64"), "");
  EXPECT_EQ(run("near.csv", "f32"), "");
}

TEST(run, a_check_that_fails_is_status_1)
{
  temporary_folder const folder;
  // 1e-23^2 is no normal number of f32: the kernel's own limit, which the check must see
  write_text(folder / "a.csv", "0,0,0,1\n1e-23,0,0,1\n");
  auto const end =
      run_program({"run", (folder / "a.csv").string(), "--precision", "f32", "--check", "2"});
  EXPECT_EQ(end.status, 1) << end.err;
  EXPECT_THAT(end.out, testing::HasSubstr("FAIL"));
}

// The potentials of points 1 and 2 for the second charges are ten times as large as these.
TEST(run, results_that_are_not_finite_are_counted_and_status_1)
{
  temporary_folder const folder;
  for (auto const& [precision, charge] :
       std::map<std::string, std::string>{{"f32", "1e38"}, {"f64", "1e308"}})
  {
    write_text(folder / "a.csv",
               "x,y,z,q1,q2\n1000,0,0,1,1\n0,0,0,1," + charge + "\n0.1,0,0,1," + charge + "\n");
    auto const end =
        run_program({"run", (folder / "a.csv").string(), "--precision", precision, "--output",
                     (folder / "b.csv").string(), "--json", (folder / "b.json").string()});
    EXPECT_EQ(end.status, 1);
    EXPECT_THAT(own_messages(end),
                testing::MatchesRegex("nearfield: results that are not finite: 2, the first at "
                                      "point 1; [^\n]*" +
                                      precision + "[^\n]*of the inputs\n"));
    EXPECT_EQ(read_json(folder / "b.json").at("not_finite"), "2");
    EXPECT_THAT(read_text(folder / "b.csv"), testing::HasSubstr("inf"));
  }
}

// of any column, not of the first that has one
TEST(run, the_first_result_that_is_not_finite_is_that_of_the_least_point)
{
  temporary_folder const folder;
  std::string text = "x,y,z,q1,q2\n";
  for (int i = 0; i < 8; ++i) // points 2 and 3, and 5 and 6, are near each other
    text += std::to_string(i == 3   ? 2000.1
                           : i == 6 ? 5000.1
                                    : 1000. * i) +
            ",0,0," + (i == 6 ? "1e308," : "1,") + (i == 3 ? "1e308\n" : "1\n");
  write_text(folder / "a.csv", text);
  auto const end =
      run_program({"run", (folder / "a.csv").string(), "--level", "0", "--workers", "0"});
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(own_messages(end), testing::HasSubstr("not finite: 2, the first at point 2;"));
}

// The box of either file holds only its own points.
TEST(run, boxes_of_two_files_that_differ_do_not_count)
{
  temporary_folder const folder;
  write_text(folder / "a.fma", "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0.5 0 0 1\n");
  write_text(folder / "b.fma", "8 4 3 1\n1 1 9 0 0\n8.5 0 0 3\n");
  auto const output = (folder / "out.csv").string();
  for (bool const is_swapped : {false, true})
  {
    auto const end = run_program({"run", (folder / (is_swapped ? "b.fma" : "a.fma")).string(),
                                  "--sources", (folder / (is_swapped ? "a.fma" : "b.fma")).string(),
                                  "--level", "0", "--workers", "0", "--output", output});
    expect_success(end);
    EXPECT_THAT(read_text(output),
                testing::ContainsRegex(is_swapped
                                           ? "8.5,0,0,3,0.24264705882352"
                                           : "0.5,0,0,1,0.37(5\n|50000000000000|49999999999999)"));
  }
}

// Of two sets, so that few pairs tell: a stray target makes the root so large that all others share a leaf.
TEST(run, a_leaf_of_a_fixed_level_that_holds_most_points_is_named)
{
  temporary_folder const folder;
  auto targets = random_points(3, 10'002, 1);
  targets.box.reset();
  for (auto& column : targets.positions) column[0] = -1e9;
  write_points(folder / "targets.csv", targets);
  write_text(folder / "sources.csv", "x,y,z,q\n0.5,0.5,0.5,1\n");
  auto const run = [&](std::vector<std::string> const& options)
  {
    std::vector<std::string> arguments{"run",       (folder / "targets.csv").string(),
                                       "--sources", (folder / "sources.csv").string(),
                                       "--workers", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto const end = run_program(arguments);
    EXPECT_EQ(end.status, 0) << end.err;
    return own_messages(end);
  };
  EXPECT_EQ(
      run({"--level", "5"}),
      "nearfield: warning: --level 5 makes 10001 pairs: one of its leaves holds 10001 targets or "
      "sources; leave out --level: the adaptive tree leaves gaps out\n");
  EXPECT_EQ(run({"--level", "0"}), "");
  EXPECT_EQ(run({}), "");
}

// JSON alone on standard output, the words on the other.
TEST(run, json_goes_to_standard_output_for_a_dash)
{
  temporary_folder const folder;
  auto const file = (folder / "a.csv").string();
  write_text(file, "x,y,z,q\n0,0,0,1\n1,0,0,1\n");
  std::vector<std::vector<std::string>> const commands{
      {"run", file, "--workers", "0"},
      {"run", file, "--workers", "0", "--move", "gravity", "--steps", "1", "--dt", "1e-3"},
      {"search", file, "--radius", "2"},
      {"tune", file, "--workers", "0", "--backend", "simd"}};
  for (auto arguments : commands)
  {
    arguments.insert(arguments.end(), {"--json", "-"});
    auto const end = run_program(arguments, {{"NEARFIELD_CACHE", (folder / "cache").string()}});
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_THAT(end.err, testing::HasSubstr("points        2, 3D\n"));
    EXPECT_THAT(end.err, testing::Not(testing::HasSubstr("written")));
    write_text(folder / "out.json", end.out);
    auto const json = read_json(folder / "out.json");
    EXPECT_EQ(json.at("points"), "2");
    EXPECT_EQ(json.count("commit"), 1u);
    EXPECT_EQ(json.count("machine.cpu") + json.count("cpu"), 1u); // tune has the latter
  }
  EXPECT_FALSE(std::filesystem::exists("-"));
  auto const full =
      run_in_shell("\"$PROGRAM\" run '" + file + "' --workers 0 --json - > /dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.err, testing::HasSubstr("standard output: cannot be written"));
}

TEST(run, says_how_fast_it_was_and_that_nothing_is_kept)
{
  temporary_folder const folder;
  auto const file = (folder / "a.csv").string(), output = (folder / "b.csv").string();
  write_text(file, "x,y,z,q\n0,0,0,1\n1,0,0,1\n");
  auto const end = run_program({"run", file, "--workers", "0"});
  EXPECT_THAT(end.out, testing::ContainsRegex("near field [^\n]*: [^ ]+ s, [^ ]+ pairs/s, setup "
                                              "[^ ]+ s\n"));
  std::string const not_kept = "not kept: give --output FILE\n";
  EXPECT_THAT(end.out, testing::EndsWith("results       " + not_kept));
  EXPECT_THAT(run_program({"run", file, "--workers", "0", "--output", output}).out,
              testing::Not(testing::HasSubstr(not_kept)));
  EXPECT_THAT(run_program({"search", file, "--radius", "2"}).out,
              testing::EndsWith("list          " + not_kept));
  auto const loop = run_program({"run", file, "--workers", "0", "--level", "0", "--move", "gravity",
                                 "--steps", "1", "--dt", "1"});
  EXPECT_THAT(loop.out, testing::EndsWith("results       " + not_kept));
  EXPECT_THAT(loop.out, testing::HasSubstr(" 1 leaf, depth 0, at most 2 points per leaf"));
}

// StarPU takes longer to start than the sums of two points.
TEST(run, of_few_pairs_stays_on_the_calling_thread_unless_told_otherwise)
{
  if (!NEARFIELD_APP_HAS_STARPU) GTEST_SKIP() << "this program was built without StarPU";
  temporary_folder const folder;
  auto const file = (folder / "a.csv").string(), json = (folder / "a.json").string();
  write_text(file, "x,y,z,q\n0,0,0,1\n1,0,0,1\n");
  std::vector<std::string> const loop{"--move", "gravity", "--steps", "2", "--dt", "1e-3"};
  for (auto const& kind : {std::vector<std::string>{}, loop})
  {
    auto const run =
        [&](std::vector<std::string> arguments, std::map<std::string, std::string> environment = {})
    {
      arguments.insert(arguments.begin(), {"run", file, "--backend", "simd", "--json", json});
      arguments.insert(arguments.end(), kind.begin(), kind.end());
      auto const end = run_program(arguments, environment);
      expect_success(end);
      bool const is_said = end.out.find("so few pairs that StarPU") != std::string::npos;
      EXPECT_EQ(is_said, read_json(json).contains("tasks")) << end.out; // an empty list
      return read_json(json).at("runtime");
    };
    char const* const workers = std::getenv("STARPU_NCPU"); // of the tests
    std::optional<std::string> const kept =
        workers ? std::optional<std::string>(workers) : std::nullopt;
    unsetenv("STARPU_NCPU");
    EXPECT_EQ(run({}), "calling thread");
    if (kept) setenv("STARPU_NCPU", kept->c_str(), 1);
    EXPECT_THAT(run({"--workers", "1"}), testing::StartsWith("StarPU "));
    EXPECT_THAT(run({"--leaves-per-group", "1"}), testing::StartsWith("StarPU "));
    EXPECT_THAT(run({}, {{"STARPU_NCPU", "1"}}), testing::StartsWith("StarPU "));
  }
}
