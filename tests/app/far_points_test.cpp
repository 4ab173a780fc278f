// Points far from zero in f32: an origin is subtracted in f64 first, and points that fall together all the same are
// reported.
#include "random_points.hpp"
#include "time_loop.hpp"

#include <gmock/gmock.h>

#include <cmath>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  constexpr double far_places[] = {1e8, -3e6, 7e10};

  // 1/8 of an integer along each axis, which all of these numbers and their sums with far_places are in f64
  point_set points_on_a_lattice(int dim, std::size_t n, std::uint64_t seed)
  {
    auto points = random_points(dim, n, seed);
    points.box.reset();
    for (auto& column : points.positions)
      for (double& x : column) x = std::round(100 * x) / 8;
    return points;
  }

  point_set moved(point_set points)
  {
    for (std::size_t d = 0; d < points.positions.size(); ++d)
      for (double& x : points.positions[d]) x += far_places[d];
    return points;
  }

  outcome compute_in_f32(temporary_folder const& folder, std::string const& input,
                         std::vector<std::string> options)
  {
    options.insert(options.end(), {"--precision", "f32"});
    return compute(folder, input, options);
  }
}

class far_points : public testing::TestWithParam<int>
{};
INSTANTIATE_TEST_SUITE_P(dim, far_points, testing::Values(2, 3));

// On the lattice every difference is exact, near and far: the sums are those of the same tree.
TEST_P(far_points, have_the_sums_of_the_same_points_near_zero)
{
  temporary_folder const folder;
  auto const points = points_on_a_lattice(GetParam(), 500, 1),
             sources = points_on_a_lattice(GetParam(), 300, 2);
  write_points(folder / "near.csv", points);
  write_points(folder / "far.csv", moved(points));
  write_points(folder / "near_sources.csv", sources);
  write_points(folder / "far_sources.csv", moved(sources));
  std::vector<std::string> const ways[] = {{"--workers", "0"}, {"--workers", "2"}};
  for (auto const& way : ways)
  {
    if (way[1] != "0" && !NEARFIELD_APP_HAS_STARPU) continue;
    for (bool const two_sets : {false, true})
    {
      auto const run = [&](std::string const& place)
      {
        auto options = way;
        options.insert(options.end(), {"--check", "100"});
        if (two_sets)
          options.insert(options.end(),
                         {"--sources", (folder / (place + "_sources.csv")).string()});
        return compute_in_f32(folder, place + ".csv", options);
      };
      auto const expected = run("near").points.outputs[0];
      auto const got = run("far");
      EXPECT_EQ(got.points.positions, moved(points).positions);
      EXPECT_EQ(got.json.at("merged"), "0");
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(got.points.outputs[0][i], expected[i], 1e-5) << i;
    }
  }
}

TEST_P(far_points, keep_their_coordinates_in_every_file)
{
  temporary_folder const folder;
  auto const points = moved(points_on_a_lattice(GetParam(), 20, 3));
  write_points(folder / "a.csv", points);
  for (std::string const name : {"b.fma", "b.bfma", "b.csv", "b.xyz"})
  {
    if (name == "b.xyz" && GetParam() == 2) continue; // which has z
    expect_success(run_program({"run", (folder / "a.csv").string(), "--precision", "f32",
                                "--workers", "0", "--output", (folder / name).string()}));
    auto const written = read_points(folder / name).positions;
    EXPECT_EQ(written, points.positions) << name;
  }
}

TEST_P(far_points, may_have_a_box)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", moved(points_on_a_lattice(GetParam(), 200, 4)));
  std::string const box = GetParam() == 2 ? "1e8,-3e6,13" : "1e8,-3e6,7e10,13";
  auto const got =
      compute_in_f32(folder, "a.csv", {"--workers", "0", "--box", box, "--level", "1"});
  EXPECT_EQ(got.json.at("leaves"), GetParam() == 2 ? "4" : "8");
  expect_refusal(
      run_program({"run", (folder / "a.csv").string(), "--workers", "0", "--precision", "f32",
                   "--box", GetParam() == 2 ? "1e8,-3e6,12" : "1e8,-3e6,7e10,12"}),
      "outside the box of half width 12");
}

TEST_P(far_points, move_as_near_ones)
{
  temporary_folder const folder;
  auto near = cluster(GetParam(), 60, false);
  for (auto& column : near.positions) // so that adding far_places loses nothing
    for (double& x : column) x = std::round(x * 0x1p15) / 0x1p15;
  write_points(folder / "near.csv", near);
  write_points(folder / "far.csv", moved(near));
  std::vector<std::string> const options{"--precision", "f32",     "--param",
                                         "eps=0.1",     "--level", "1"};
  auto const expected = move(folder, "near.csv", "gravity", 4, 0.01, options),
             got = move(folder, "far.csv", "gravity", 4, 0.01, options);
  for (std::size_t d = 0; d < near.positions.size(); ++d)
    for (std::size_t i = 0; i < near.size(); ++i)
    {
      EXPECT_NEAR(got.points.velocities[d][i], expected.points.velocities[d][i], 1e-4);
      EXPECT_NEAR(got.points.outputs[d][i], expected.points.outputs[d][i], 1e-2);
      EXPECT_NEAR(got.points.positions[d][i], expected.points.positions[d][i] + far_places[d],
                  1e-4);
    }
}

TEST_P(far_points, have_the_pairs_of_near_ones)
{
  temporary_folder const folder;
  auto const points = points_on_a_lattice(GetParam(), 400, 5);
  write_points(folder / "near.csv", points);
  write_points(folder / "far.csv", moved(points));
  auto const search = [&](std::string const& input)
  {
    expect_success(
        run_program({"search", (folder / input).string(), "--radius", "2.5", "--precision", "f32",
                     "--backend", "simd", "--list", "full", "--dim", std::to_string(GetParam()),
                     "--output", (folder / "pairs.csv").string()}));
    return read_text(folder / "pairs.csv");
  };
  auto const expected = search("near.csv");
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(search("far.csv"), expected);
}

// An axis that repeats has points in [0, L), and no origin; the others have one.
TEST(far_points_in_f32, may_lie_in_a_box_that_is_periodic_along_some_axes)
{
  temporary_folder const folder;
  auto points = random_points(3, 300, 6);
  points.box.reset();
  for (double& x : points.positions[0]) x = 4.5 + x; // far from zero, if the axis were open
  for (double& x : points.positions[2]) x += 1e7;
  write_points(folder / "a.csv", points);
  compute_in_f32(folder, "a.csv", {"--workers", "0", "--periodic", "5.75,0,0", "--check", "50"});
}

TEST(far_points_in_f32, that_fall_together_are_reported)
{
  temporary_folder const folder;
  // numbers of f32 near 5e7 are 4 apart
  write_text(folder / "a.csv", "x,y,z,q\n100000000,0,0,1\n0,0,0,1\n100000001,0,0,1\n"
                               "100000001,0,0,1\n0,0,0,1\n");
  auto const input = (folder / "a.csv").string(), json = (folder / "a.json").string();
  std::string const line = "nearfield: points that f32 cannot tell apart: 2, the first point 2 of "
                           "[^\n]*a.csv, which falls on point 0 of [^\n]*--precision f64\n";
  auto const run = [&](std::vector<std::string> arguments)
  {
    arguments.insert(arguments.end(), {"--json", json, "--workers", "0"});
    return run_program(arguments);
  };
  auto const unchecked = run({"run", input, "--precision", "f32"});
  EXPECT_EQ(unchecked.status, 0);
  EXPECT_THAT(own_messages(unchecked), testing::MatchesRegex(line));
  EXPECT_EQ(read_json(json).at("merged"), "2");
  auto const checked = run({"run", input, "--precision", "f32", "--check", "9"});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out, testing::HasSubstr(": FAIL"));
  auto const searched =
      run({"search", input, "--precision", "f32", "--radius", "3", "--backend", "simd"});
  EXPECT_EQ(searched.status, 0);
  EXPECT_THAT(own_messages(searched), testing::MatchesRegex(line));
  EXPECT_EQ(read_json(json).at("merged"), "2");
  expect_success(run({"run", input, "--check", "9"}));
  // not those that an origin tells apart, though f32 holds none of them
  write_text(folder / "b.csv", "x,y,z,q\n100000000.1,0,0,1\n100000000.3,0,0,1\n"
                               "100000001.7,0,0,1\n");
  expect_success(run({"run", (folder / "b.csv").string(), "--precision", "f32"}));
  EXPECT_EQ(read_json(json).at("merged"), "0");
}

TEST(far_points_in_f32, of_two_files_that_fall_together_are_reported)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,z,q\n0,0,0,1\n7,0,0,1\n");
  write_text(folder / "b.csv", "x,y,z,q\n-1e9,0,0,1\n7.0000001,0,0,1\n");
  write_text(folder / "c.csv", "x,y,z,q\n100000000,0,0,1\n100000001,0,0,1\n");
  auto const said = [&](char const* targets, char const* sources)
  {
    return own_messages(
        run_program({"run", (folder / targets).string(), "--sources", (folder / sources).string(),
                     "--precision", "f32", "--workers", "0"}));
  };
  EXPECT_THAT(said("a.csv", "b.csv"),
              testing::ContainsRegex(": 1, the first point 1 of [^ ]*b.csv, which "
                                     "falls on point 1 of [^ ]*a.csv"));
  // alone, the targets would have an origin that tells them apart
  EXPECT_THAT(said("c.csv", "a.csv"),
              testing::ContainsRegex(": 1, the first point 1 of [^ ]*c.csv, which "
                                     "falls on point 0 of [^ ]*c.csv"));
  EXPECT_EQ(said("c.csv", "c.csv"), "");
}
