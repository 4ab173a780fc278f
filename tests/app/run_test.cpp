// What `nearfield run` computes and writes, against plain sums of this file's own.
#include "outcome.hpp"
#include "random_points.hpp"

#include <gmock/gmock.h>

#include <cmath>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  // Roots have the last bits of the processor's reciprocal root.
  auto nearly(std::vector<double> const& expected)
  {
    return testing::Pointwise(testing::DoubleEq(), expected);
  }

  // sum of q/r over the sources whose box, of 2^level an axis in [-1, 1], touches that of target i
  double near_potential(point_set const& targets, point_set const& sources, bool one_set, int level,
                        std::size_t i)
  {
    auto const boxes = std::ldexp(1.0, level);
    auto const box = [&](double x)
    {
      return std::min(boxes - 1, std::floor((x + 1) / 2 * boxes));
    };
    double sum = 0;
    for (std::size_t j = 0; j < sources.size(); ++j)
    {
      if (one_set && i == j) continue;
      double r2 = 0;
      bool near = true;
      for (std::size_t d = 0; d < targets.positions.size(); ++d)
      {
        double const x = targets.positions[d][i], y = sources.positions[d][j];
        r2 += (x - y) * (x - y);
        near = near && std::abs(box(x) - box(y)) <= 1;
      }
      if (near && r2 > 0) sum += sources.inputs[0][j] / std::sqrt(r2);
    }
    return sum;
  }
}

class both_dimensions : public testing::TestWithParam<int>
{};
INSTANTIATE_TEST_SUITE_P(dim, both_dimensions, testing::Values(2, 3));

TEST_P(both_dimensions, potential_is_the_plain_sum_over_touching_boxes)
{
  temporary_folder const folder;
  auto const points = random_points(GetParam(), 700, 1);
  write_points(folder / "a.fma", points);
  for (int const level : {0, 1, 3})
  {
    auto const [end, got, json] =
        compute(folder, "a.fma", {"--level", std::to_string(level), "--check", "50"});
    EXPECT_EQ(got.positions, points.positions);
    EXPECT_EQ(got.inputs, points.inputs);
    ASSERT_EQ(got.outputs.size(), 1u);
    for (std::size_t i = 0; i < points.size(); ++i)
      ASSERT_NEAR(got.outputs[0][i], near_potential(points, points, true, level, i), 1e-10) << i;
    EXPECT_EQ(json.at("depth"), std::to_string(level));
    if (level == 0)
    {
      EXPECT_EQ(json.at("interactions"), std::to_string(700 * 699));
    }
    EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
    EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("FAIL")));
  }
}

// Axis x has a period of 2, axis y is open, z has one of 1.5; images by a loop over all 9 or 27.
TEST_P(both_dimensions, periodic_axes_are_met_in_their_images)
{
  temporary_folder const folder;
  std::vector<double> const period{2, 0, 1.5};
  auto points = random_points(GetParam(), 300, 4);
  for (std::size_t d = 0; d < points.positions.size(); ++d)
    for (double& x : points.positions[d])
      if (period[d] > 0) x = (x + 1) / 2 * period[d];
  points.box.reset();
  write_points(folder / "a.csv", points);
  std::string const lengths = GetParam() == 3 ? "2,0,1.5" : "2,0",
                    box = GetParam() == 3 ? "0,0,0,1" : "0,0,1";
  for (int const level : {0, 1, 2})
  {
    auto const boxes = std::ldexp(1.0, level);
    auto const box_of = [&](std::size_t d, double x)
    {
      double const place = period[d] > 0 ? x / period[d] : (x + 1) / 2;
      return std::min(boxes - 1, std::floor(place * boxes));
    };
    std::vector<double> expected(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t j = 0; j < points.size(); ++j)
        for (int image = 0; image < 27; ++image)
        {
          double r2 = 0;
          bool near = true;
          for (std::size_t d = 0, digits = static_cast<std::size_t>(image); d < 3; ++d, digits /= 3)
          {
            double const periods = double(digits % 3) - 1;
            bool const exists = d < points.positions.size() && period[d] > 0;
            near = near && (exists || periods == 0);
            if (d >= points.positions.size()) continue;
            double const x = points.positions[d][i], y = points.positions[d][j];
            double const r = x - (y + periods * period[d]);
            r2 += r * r;
            near = near && std::abs(box_of(d, x) - box_of(d, y) - periods * boxes) <= 1;
          }
          if (near && r2 > 0) expected[i] += points.inputs[0][j] / std::sqrt(r2);
        }
    for (std::vector<std::string> const& how :
         std::vector<std::vector<std::string>>{{"--workers", "0"},
                                               {"--backend", "scalar", "--workers", "0"},
                                               {"--precision", "f32", "--workers", "0"},
                                               {}})
    {
      std::vector<std::string> options{
          "--level", std::to_string(level), "--check", "300", "--periodic", lengths, "--box", box};
      options.insert(options.end(), how.begin(), how.end());
      auto const [end, got, json] = compute(folder, "a.csv", options);
      ASSERT_EQ(got.outputs.size(), 1u);
      bool const is_f32 = how.size() == 4 && how[1] == "f32";
      for (std::size_t i = 0; i < points.size(); ++i)
        ASSERT_NEAR(got.outputs[0][i], expected[i],
                    is_f32 ? 1e-3 * (1 + std::abs(expected[i]))
                           : 1e-9 * (1 + std::abs(expected[i])))
            << i;
      EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
      EXPECT_EQ(json.at("periodic.0"), "2");
      EXPECT_EQ(json.at("periodic.1"), "0");
    }
  }
}

TEST_P(both_dimensions, sources_of_another_file)
{
  temporary_folder const folder;
  auto const targets = random_points(GetParam(), 300, 2),
             sources = random_points(GetParam(), 500, 3);
  write_points(folder / "a.bfma", targets);
  write_points(folder / "b.fma", sources);
  auto const got =
      compute(folder, "a.bfma",
              {"--sources", (folder / "b.fma").string(), "--level", "2", "--check", "20"});
  for (std::size_t i = 0; i < targets.size(); ++i)
    ASSERT_NEAR(got.points.outputs.at(0)[i], near_potential(targets, sources, false, 2, i), 1e-10);
  EXPECT_EQ(got.json.at("points"), "300");
  EXPECT_EQ(got.json.at("sources"), "500");
}

// Two points at distance 2 with charges 2 and 3.
TEST(fma, signs_of_both_versions)
{
  temporary_folder const folder;
  write_text(folder / "v1.fma", "8 4\n2 1 1 0 0\n0 0 0 2\n2 0 0 3\n");
  write_text(folder / "v2.fma", "8 4 3 1\n2 1 1 0 0\n0 0 0 2\n2 0 0 3\n");
  for (auto const* name : {"v1.fma", "v2.fma"})
  {
    auto const got = compute(folder, name, {"--interaction", "val_grad_one_over_r"}).points;
    ASSERT_EQ(got.outputs.size(), 4u);
    EXPECT_EQ(got.output_names, (std::vector<std::string>{"phi", "gx", "gy", "gz"}));
    auto const& [phi, gx, gy, gz] =
        std::tie(got.outputs[0], got.outputs[1], got.outputs[2], got.outputs[3]);
    EXPECT_THAT(phi, nearly({1.5, 1}));
    // d/dx_i sum_j q_j / r, without q_i: what version 2 stores
    EXPECT_THAT(gx, nearly({0.75, -0.5}));
    EXPECT_EQ(gy[0], 0);
    EXPECT_EQ(gz[1], 0);
    // version 1 stores the force -q_i sum_j q_j (x_i - x_j) / r^3 = q_i times the gradient
    EXPECT_DOUBLE_EQ(2 * gx[0], -2.0 * 3 * (0 - 2) / 8);
    EXPECT_DOUBLE_EQ(3 * gx[1], -3.0 * 2 * (2 - 0) / 8);
  }
}

TEST(run, every_interaction_passes_its_check_in_both_precisions)
{
  temporary_folder const folder;
  for (int const dim : {2, 3})
  {
    auto points = random_points(dim, 150, 4);
    points.inputs.resize(static_cast<std::size_t>(6), points.inputs[0]); // for n_in = 1, 2 and 3
    points.box.reset();
    write_points(folder / "a.csv", points);
    for (auto const* name : {"one_over_r", "grad_one_over_r", "val_grad_one_over_r", "r_over_r3",
                             "log_r", "grad_log_r", "gaussian", "dipole_tensor"})
    {
      if (dim == 3 && std::string(name).find("log") != std::string::npos) continue;
      for (auto const* precision : {"f32", "f64"})
      {
        auto const end =
            run_program({"run", (folder / "a.csv").string(), "--interaction", name, "--precision",
                         precision, "--max-leaf-size", "12", "--check", "150", "--workers", "0"});
        EXPECT_EQ(end.status, 0) << name << " " << precision << "\n" << end.out << end.err;
      }
    }
  }
}

TEST(run, parameters_reach_the_formula)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0 0 0 1\n1 0 0 1\n");
  auto const value = [&](std::vector<std::string> const& options)
  {
    return compute(folder, "a.csv", options).points.outputs.at(0).at(0);
  };
  EXPECT_NEAR(value({"--interaction", "gaussian", "--param", "sigma=0.5"}), std::exp(-4), 1e-15);
  EXPECT_NEAR(value({"--interaction", "r_over_r3", "--param", "eps=1"}), -std::pow(2, -1.5), 1e-15);
}

TEST(run, the_input_may_stand_behind_any_option)
{
  temporary_folder const folder;
  auto const input = (folder / "a.csv").string();
  write_text(input, "0 0 0 1\n1 0 0 1\n");
  for (auto const& [option, value] : std::map<std::string, std::string>{
           {"--param", "sigma=1"}, {"--columns", "x,y,z,q"}, {"--box", "0,0,0,2"}, {"--dim", "3"}})
    expect_success(
        run_program({"run", "--interaction", "gaussian", option, value, input, "--workers", "0"}));
}

TEST(run, back_ends_and_tasks_agree)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 3000, 5));
  auto const reference = compute(folder, "a.csv", {"--backend", "scalar", "--workers", "0"});
  EXPECT_EQ(reference.json.at("workers"), "1");
  EXPECT_EQ(reference.json.at("tasks"), "[]");
  std::vector<std::vector<std::string>> variants{{"--backend", "simd", "--workers", "0"},
                                                 {"--backend", "auto"},
                                                 {"--gpus", "0"},
                                                 {"--backend", "simd", "--gpus", "0"}};
#if NEARFIELD_APP_HAS_STARPU
  variants.push_back({"--workers", "2", "--leaves-per-group", "3", "--scheduler", "eager"});
  variants.push_back({"--workers", "1", "--backend", "scalar"});
#endif
  for (auto const& options : variants)
  {
    auto const got = compute(folder, "a.csv", options);
    for (std::size_t i = 0; i < 3000; ++i)
      ASSERT_NEAR(got.points.outputs[0][i], reference.points.outputs[0][i], 1e-9);
    EXPECT_EQ(got.json.at("interactions"), reference.json.at("interactions"));
  }
#if NEARFIELD_APP_HAS_STARPU
  auto const json =
      compute(folder, "a.csv", {"--workers", "2", "--leaves-per-group", "3", "--gpus", "0"}).json;
  EXPECT_EQ(json.at("workers"), "2");
  EXPECT_EQ(json.at("gpus"), "0");
  EXPECT_GE(std::stoi(json.at("tasks.0.tasks")), 1);
  EXPECT_TRUE(json.contains("tasks.0.worker"));
  EXPECT_TRUE(json.contains("tasks.0.implementation"));
#endif
}

#if NEARFIELD_APP_HAS_STARPU
// A scheduler with models that are not calibrated tries whatever it is offered.
TEST(run, the_summary_names_the_implementation_of_all_tasks)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 3000, 10));
  for (auto const* scheduler : {"dmda", "eager"})
  {
    auto const [end, points, json] =
        compute(folder, "a.csv",
                {"--scheduler", scheduler, "--leaves-per-group", "1", "--max-leaf-size", "30"});
    auto const ran = json.at("tasks.0.implementation");
    EXPECT_NE(ran, "scalar");
    for (int entry = 1; json.contains("tasks." + std::to_string(entry) + ".tasks"); ++entry)
      EXPECT_EQ(json.at("tasks." + std::to_string(entry) + ".implementation"), ran);
    EXPECT_THAT(end.out, testing::HasSubstr("auto (" + ran + "), f64"));
  }
}
#endif

TEST(run, json_has_every_key)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(2, 100, 6));
  auto const json = compute(folder, "a.csv", {"--check", "7", "--max-leaf-size", "10"}).json;
  for (auto const* key :
       {"points", "dim", "leaves", "depth", "max_leaf", "interactions", "seconds.read",
        "seconds.setup", "seconds.tree", "seconds.near_field", "seconds.check", "workers", "gpus",
        "check.targets", "check.max_relative_error"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("points"), "100");
  EXPECT_EQ(json.at("dim"), "2");
  EXPECT_EQ(json.at("check.targets"), "7");
  EXPECT_EQ(json.at("not_finite"), "0");
  EXPECT_LE(std::stoi(json.at("max_leaf")), 10);
  EXPECT_LE(std::stod(json.at("check.max_relative_error")), 1e-13);
  // whole numbers have no point
  for (char const* sigma : {"9007199254740991", "4294967296", "3", "0.5"})
    EXPECT_EQ(compute(folder, "a.csv",
                      {"--interaction", "gaussian", "--param", "sigma=" + std::string(sigma)})
                  .json.at("parameters.sigma"),
              sigma);
}

TEST(run, a_number_with_leading_zeros_is_not_octal)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(2, 100, 6));
  EXPECT_EQ(compute(folder, "a.csv", {"--check", "010"}).json.at("check.targets"), "10");
  EXPECT_EQ(compute(folder, "a.csv", {"--level", "00"}).json.at("depth"), "0");
}

TEST(run, csv_has_the_shortest_decimals_in_input_order)
{
  temporary_folder const folder;
  write_text(folder / "a.txt", "# x y z q\n0.1 0.2 0.30000000000000004 1\n-3 1e-300 5 0.5\n");
  compute(folder, "a.txt", {});
  EXPECT_THAT(read_text(folder / "out.csv"),
              testing::MatchesRegex("x,y,z,q,phi\n0.1,0.2,0.30000000000000004,1,[0-9.]+\n"
                                    "-3,1e-300,5,0.5,[0-9.]+\n"));
  compute(folder, "a.txt", {"--precision", "f32"});
  EXPECT_THAT(read_text(folder / "out.csv"),
              testing::MatchesRegex("x,y,z,q,phi\n0.1,0.2,0.3,1,[0-9.]+\n-3,0,5,0.5,[0-9.]+\n"));
}

TEST(run, columns_are_chosen_by_name)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "9,2,0,0,5\n9,4,1,0,6\n");
  auto const got = compute(folder, "a.csv", {"--columns", "_,q,x,y,_"}).points;
  EXPECT_EQ(got.dim, 2);
  EXPECT_THAT(got.outputs.at(0), nearly({4, 2}));
}

TEST(run, columns_are_those_of_sources_too_where_the_extension_is_the_same)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "1,0,0,0,1\n");
  write_text(folder / "b.csv", "9,2,0,0,6\n");
  write_text(folder / "b.fma", "8 4 3 1\n1 4 0 0 0\n2 0 0 8\n");
  auto const phi = [&](char const* sources)
  {
    return compute(folder, "a.csv",
                   {"--columns", "_,x,y,z,q", "--sources", (folder / sources).string()})
        .points.outputs.at(0);
  };
  EXPECT_THAT(phi("b.csv"), nearly({3}));
  EXPECT_THAT(phi("b.fma"), nearly({4}));
}

TEST(run, an_atom_style_is_for_those_of_two_files_that_have_one)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0,0,1\n");
  write_text(folder / "b.data", "title\n1 atoms\nAtoms\n\n1 1 6 2 0 0\n");
  auto const phi = [&](char const* targets, char const* sources)
  {
    return compute(folder, targets,
                   {"--atom-style", "charge", "--sources", (folder / sources).string()})
        .points.outputs.at(0);
  };
  EXPECT_THAT(phi("a.csv", "b.data"), nearly({3}));
  EXPECT_THAT(phi("b.data", "a.csv"), nearly({0.5}));
  EXPECT_THAT(phi("b.data", "b.data"), nearly({0}));
  expect_refusal(run_program({"run", (folder / "a.csv").string(), "--sources",
                              (folder / "a.csv").string(), "--atom-style", "charge"}),
                 "a.csv: found an atom style");
}

TEST(run, several_right_hand_sides)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,z,q1,q2\n0,0,0,1,10\n2,0,0,3,40\n");
  auto const got = compute(folder, "a.csv", {}).points;
  ASSERT_EQ(got.outputs.size(), 2u);
  EXPECT_THAT(got.outputs[0], nearly({1.5, 0.5}));
  EXPECT_THAT(got.outputs[1], nearly({20, 5}));
}

TEST(run, many_right_hand_sides_in_one_pass)
{
  temporary_folder const folder;
  std::string one = "x,y,z,q\n", eight = "x,y,z,q1,q2,q3,q4,q5,q6,q7,q8\n";
  for (int i = 0; i < 500; ++i)
  {
    std::string const place =
        std::to_string(i % 7) + "," + std::to_string(i % 11) + "," + std::to_string(i % 13) + ".5";
    one += place + ",1\n";
    eight += place;
    for (int q = 1; q <= 8; ++q) eight += "," + std::to_string(q);
    eight += "\n";
  }
  write_text(folder / "one.csv", one);
  write_text(folder / "eight.csv", eight);
  std::vector<std::vector<std::string>> ways{{"--workers", "0"}};
#if NEARFIELD_APP_HAS_STARPU
  ways.push_back({"--workers", "1", "--gpus", "0"});
#endif
  for (auto const& way : ways)
    for (auto const* interaction : {"one_over_r", "val_grad_one_over_r"})
    {
      auto options = way;
      options.insert(options.end(), {"--interaction", interaction, "--check", "20"});
      auto const of_one = compute(folder, "one.csv", options);
      auto const of_eight = compute(folder, "eight.csv", options);
      std::size_t const n_out = of_one.points.outputs.size();
      ASSERT_EQ(of_eight.points.outputs.size(), 8 * n_out);
      for (std::size_t c = 0; c < 8 * n_out; ++c)
        for (std::size_t i = 0; i < 500; i += 50)
          EXPECT_NEAR(of_eight.points.outputs[c][i],
                      static_cast<double>(c / n_out + 1) * of_one.points.outputs[c % n_out][i],
                      1e-9);
      // one plan: as many tasks as for one
      auto const* const tasks = way[1] == "0" ? "tasks" : "tasks.0.tasks";
      EXPECT_EQ(of_eight.json.at(tasks), of_one.json.at(tasks));
    }
}

TEST(run, box_and_rounding_to_f32)
{
  temporary_folder const folder;
  // 5.00000036 rounds to a float outside the box, and is too near to zero for an origin
  write_text(folder / "a.csv", "5.00000036,4,4,1\n3,4,4,1\n");
  auto const end = run_program({"run", (folder / "a.csv").string(), "--box", "3.9999999,4,4,1",
                                "--precision", "f32", "--check", "2"});
  expect_success(end);
}

TEST(run, no_points_one_point_and_equal_points)
{
  temporary_folder const folder;
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  write_text(folder / "one.csv", "1,2,3,4\n");
  std::string equal;
  for (int i = 0; i < 200; ++i) equal += "1,2,3,4\n";
  write_text(folder / "equal.csv", equal);
  for (auto const* name : {"none.fma", "one.csv", "equal.csv"})
    for (auto const* precision : {"f32", "f64"})
    {
      auto const got = compute(folder, name, {"--precision", precision, "--check", "5"});
      for (double const phi : got.points.outputs.at(0)) EXPECT_EQ(phi, 0) << name;
      EXPECT_NE(got.json.at("check.max_relative_error"), "null");
    }
  EXPECT_EQ(compute(folder, "equal.csv", {}).json.at("leaves"), "1");
  // i = j is left out by index, so that a regular interaction counts the other 199
  EXPECT_EQ(compute(folder, "equal.csv", {"--interaction", "gaussian"}).points.outputs[0][0],
            199 * 4);
}

TEST(run, every_format_that_is_written)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 50, 7));
  for (auto const* name : {"b.fma", "b.bfma", "b.csv", "b.vtu", "b.xyz"})
    expect_success(
        run_program({"run", (folder / "a.csv").string(), "--output", (folder / name).string()}));
  expect_same_values(read_points(folder / "b.fma"), read_points(folder / "b.csv"));
  expect_same_values(read_points(folder / "b.bfma"), read_points(folder / "b.csv"));
  EXPECT_THAT(read_text(folder / "b.vtu"), testing::HasSubstr("Name=\"phi\""));
}

TEST(run, json_is_utf8_whatever_the_name_of_the_file)
{
  temporary_folder const folder;
  std::string const name = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xc3\xed\xa0\x80.csv";
  write_text(folder / name, "0 0 0 1\n1 0 0 1\n");
  // U+FFFD in place of invalid bytes
  EXPECT_THAT(compute(folder, name, {}).json.at("input"),
              testing::ContainsRegex("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80(\xef\xbf\xbd)+\\.csv$"));
}
