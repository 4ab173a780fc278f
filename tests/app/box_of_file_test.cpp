// Boxes that files give: --cell file of `search` and `run`, and file_report::periodic_cell::box() in a program.
//
// The numbers expected of the two files are those of a script in Python that knows nothing of this project: for all i, j
// and S within 9 of 0 along each periodic vector, it counts math.dist(x_i, x_j + S) < R, also by point, and adds up
// |S_a|. No distance is within 3e-4 of a radius. Its potentials are plain sums too, over the images -1, 0 and 1 along
// each periodic vector of positions that it wrapped into the box by fractions, along z itself where c is open.
#include "list_files.hpp"
#include "outcome.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  // as write_data of LAMMPS writes it; two atoms lie in other images of the box
  std::string const alloy =
      R"(LAMMPS data file via write_data, version 2 Aug 2023, timestep = 0, units = metal

12 atoms
2 atom types

-1.5 4.7 xlo xhi
0.25 5.35 ylo yhi
2 9.3 zlo zhi
2.1 -1.3 0.9 xy xz yz

Masses

1 58.6934
2 26.9815

Atoms # charge

1 1 0.75 4.559638 4.439755 7.595518 0 0 0
2 2 -0.75 3.827815 2.147273 6.640799 0 0 0
3 1 0.75 5.197314 5.213512 6.182467 0 0 0
4 2 -0.75 -8.274167 1.697935 15.505856 0 0 0
5 1 0.75 1.312480 1.599342 4.313399 0 0 0
6 2 -0.75 4.282653 2.346036 5.119814 0 0 0
7 1 0.75 3.443621 4.801386 5.592429 0 0 0
8 2 -0.75 -8.247118 -0.965552 9.886297 0 0 0
9 1 0.75 1.494699 3.917289 3.192451 0 0 0
10 2 -0.75 -1.638774 1.004263 7.152221 0 0 0
11 1 0.75 3.978956 1.584107 3.734256 0 0 0
12 2 -0.75 -0.456291 3.809450 4.195446 0 0 0
)";

  // as ASE writes it
  std::string const layer =
      R"(8
Lattice="5.43 0.0 0.0 1.2 5.1 0.0 0.3 -0.4 7.0" Properties=species:S:1:pos:R:3:initial_charges:R:1 pbc="T T F"
C        0.57407187       3.57258416       3.07832138       0.50000000
Si       2.33413833      -0.47133301       3.32362517      -0.50000000
C        3.68446002       1.98319054       0.33743100       0.50000000
Si       7.89424595       5.30514271       3.64575813      -0.50000000
C        7.84165227       3.12162987       1.47209790       0.50000000
Si       0.29885386       3.28169954       2.57277605      -0.50000000
C        3.90528474       6.30768665       4.58874004       0.50000000
Si       0.67688579       5.72446358      -0.68740125      -0.50000000
)";

  struct expected_pairs
  {
    char const* file;
    std::string const& content;
    char const* pbc; ///< empty: as the file says
    double radius;
    std::size_t full;                 ///< (i, j, S) and (j, i, -S)
    std::size_t most;                 ///< of one point
    std::array<std::int64_t, 3> sums; ///< of |S_a|
  };

  expected_pairs const all_expected[] = {
      {"data.alloy", alloy, "", 2.5, 34, 5, {18, 12, 8}},
      {"data.alloy", alloy, "", 4, 156, 15, {98, 68, 48}},
      {"data.alloy", alloy, "", 7.5, 1116, 97, {846, 686, 592}}, // more than the box
      {"data.alloy", alloy, "1,1,0", 4, 112, 13, {48, 42, 0}},
      {"layer.xyz", layer, "", 2.5, 16, 3, {12, 6, 0}},
      {"layer.xyz", layer, "", 4, 64, 11, {52, 34, 0}},
      {"layer.xyz", layer, "", 7.5, 344, 46, {268, 234, 0}},
      {"layer.xyz", layer, "1,1,1", 7.5, 560, 74, {408, 354, 216}},
  };
}

TEST(box_of_file, is_searched)
{
  temporary_folder const folder;
  for (auto const& [file, content, pbc, radius, full, most, sums] : all_expected)
    for (std::string const precision : {"f64", "f32"})
    {
      SCOPED_TRACE(testing::Message() << file << " " << pbc << " " << radius << " " << precision);
      write_text(folder / file, content);
      auto const list = (folder / "list.csv").string(), json = (folder / "a.json").string();
      std::vector<std::string> arguments{"search",      (folder / file).string(),
                                         "--cell",      "file",
                                         "--radius",    std::to_string(radius),
                                         "--precision", precision,
                                         "--backend",   "simd",
                                         "--shifts",    "--list",
                                         "full",        "--output",
                                         list,          "--json",
                                         json};
      if (*pbc) arguments.insert(arguments.end(), {"--pbc", pbc});
      expect_success(run_program(arguments));
      auto const values = read_json(json);
      EXPECT_EQ(values.at("pairs"), std::to_string(full));
      EXPECT_EQ(values.at("max_neighbours"), std::to_string(most));
      EXPECT_EQ(values.at("files.0.uses_box"), "true");
      std::array<std::int64_t, 3> found{};
      for (auto const& row : read_csv(folder / "list.csv", "i,j,sx,sy,sz"))
        for (std::size_t a = 0; a < 3; ++a) found[a] += std::abs(row[2 + a]);
      EXPECT_EQ(found, sums);
    }
}

TEST(box_of_file, is_a_cell_for_programs)
{
  temporary_folder const folder;
  for (auto const& [file, content, pbc, radius, full, most, sums] : all_expected)
  {
    if (*pbc) continue;
    write_text(folder / file, content);
    file_report report;
    auto const points = read_points(folder / file, {}, &report);
    auto const& x = points.positions;
    cell_list const cells{soa{x[0], x[1], x[2]}, radius, {.cell = report.cell.value().box()}};
    auto const pairs = radius_search(simd, cells, count_pairs{pairs::full});
    EXPECT_EQ(pairs.total, full) << file << " " << radius;
  }
}

TEST(box_of_file, repeats_in_a_near_field)
{
  temporary_folder const folder;
  write_text(folder / "data.alloy", alloy);
  std::vector<double> const along_all{
      0.12264151986665275, 0.3094015235024884,  0.2729152842113036,   0.036555937117341994,
      -0.2309488434896071, 0.7284347583028561,  0.23944460954902375,  0.8930673604664643,
      -0.722800429428078,  -0.6191943005510417, -0.12973978641842293, 0.2824074383101496},
      along_two{-0.09615824782191196, 0.4235758496180912, 0.2650189501522289, -0.7303802540722093,
                0.8158965835934328,   1.033024517601304,  0.674577317336239,  -0.1931320675204749,
                0.9305021912194301,   0.2223259896172406, 0.440967987582227,  1.3577774948432726};
  for (std::vector<std::string> const& where :
       std::vector<std::vector<std::string>>{{"--workers", "0"}, {"--precision", "f32"}, {}})
    for (std::string const pbc : {"1,1,1", "1,1,0"})
    {
      std::vector<std::string> options{"--cell",  "file", "--pbc",   pbc,
                                       "--level", "0",    "--check", "12"};
      options.insert(options.end(), where.begin(), where.end());
      auto const [end, got, json] = compute(folder, "data.alloy", options);
      double const error = json.at("precision") == "f32" ? 1e-5 : 1e-13;
      EXPECT_THAT(got.outputs.at(0), testing::Pointwise(testing::DoubleNear(error),
                                                        pbc == "1,1,1" ? along_all : along_two));
      EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
      EXPECT_EQ(json.at("cell.3"), "2.1");
      EXPECT_EQ(json.at("pbc.2"), pbc == "1,1,1" ? "true" : "false");
    }
}

// By tasks too, in an adaptive tree, beside sources that lie elsewhere; numbers of --cell are the same box.
TEST(box_of_file, takes_points_anywhere)
{
  temporary_folder const folder;
  write_text(folder / "data.alloy", alloy);
  write_text(folder / "b.csv", "x,y,z,q\n0,0,0,1\n-30,7,2,-1\n15,15,-15,2\n");
  std::vector<std::string> common{"--check", "12", "--max-leaf-size", "2"};
  if (NEARFIELD_APP_HAS_STARPU) common.insert(common.end(), {"--workers", "2"});
  for (bool const has_sources : {false, true})
    for (std::string const precision : {"f64", "f32"})
    {
      auto options = common;
      if (has_sources) options.insert(options.end(), {"--sources", (folder / "b.csv").string()});
      options.insert(options.end(), {"--precision", precision, "--cell", "file"});
      auto const of_file = compute(folder, "data.alloy", options);
      EXPECT_THAT(of_file.end.out, testing::HasSubstr("PASS"));
      options.back() = "6.2,0,0,2.1,5.1,0,-1.3,0.9,7.3";
      EXPECT_THAT(compute(folder, "data.alloy", options).end.out, testing::HasSubstr("PASS"));
    }
}

// Far from zero in f32: an origin is subtracted, and the box follows.
TEST(box_of_file, may_lie_far_away)
{
  temporary_folder const folder;
  auto const far = [&](int drift)
  {
    std::string text = "4\nProperties=pos:R:3:q:R:1 Origin=\"8000000 0 0\" "
                       "Lattice=\"4 0 0 1 5 0 0 0 6\"\n";
    for (double const x : {0.5, 1.25, 3.0, 3.5})
      text += std::to_string(8000000 + drift + x) + " 1 " + std::to_string(x) + " 1\n";
    write_text(folder / "a.xyz", text);
    return compute(folder, "a.xyz",
                   {"--cell", "file", "--level", "0", "--workers", "0", "--precision", "f32",
                    "--check", "4"})
        .points.outputs.at(0);
  };
  auto const expected = far(0);
  EXPECT_THAT(far(-4'000'000), testing::Pointwise(testing::FloatNear(1e-5F), expected));
  EXPECT_THAT(far(4'000'000), testing::Pointwise(testing::FloatNear(1e-5F), expected));
}

TEST(box_of_file, of_points_in_a_plane)
{
  temporary_folder const folder;
  auto const input = (folder / "data.a").string();
  auto const with = [&](std::string const& command, std::string const& box)
  {
    write_text(input, "title\n\n2 atoms\n" + box +
                          "\nAtoms # charge\n\n1 1 1 0.25 0 1\n2 1 1 0.25 1.75 1\n");
    std::vector<std::string> arguments{command, input, "--dim", "2", "--cell", "file"};
    if (command == "search")
      arguments.insert(arguments.end(), {"--radius", "1", "--list", "full", "--backend", "simd"});
    return run_program(arguments);
  };
  auto const end =
      with("search", "0 2 xlo xhi\n0 2 ylo yhi\n0 2 zlo zhi\n0.5 0.25 0.75 xy xz yz\n");
  EXPECT_THAT(end.out, testing::HasSubstr("pairs         2 (full)"));
  EXPECT_THAT(end.out, testing::HasSubstr("box 2,0,0.5,2 (xlo xhi) repeats;"));
  expect_refusal(with("run", "2 0 0 avec\n0 2 1 bvec\n0 0 2 cvec\n"),
                 "--cell file: the box of .*data.a has vectors that leave the plane");
}

TEST(box_of_file, is_that_of_both_files)
{
  temporary_folder const folder;
  std::string const points = " Properties=pos:R:3:q:R:1\n0.5 0.5 0.5 1\n";
  write_text(folder / "a.xyz", "1\nLattice=\"2 0 0 0 2 0 0 0 2\"" + points);
  write_text(folder / "b.xyz", "1\nLattice=\"2 0 0 0 2 0 0 0 3\"" + points);
  write_text(folder / "c.xyz", "1\nOrigin=\"0 0 1\"" + points);
  auto const with = [&](std::string const& input, std::string const& sources)
  {
    return run_program({"run", (folder / input).string(), "--sources", (folder / sources).string(),
                        "--cell", "file", "--workers", "0"});
  };
  expect_refusal(with("a.xyz", "b.xyz"),
                 "--cell file: .*a.xyz and .*b.xyz have different boxes; give --cell numbers");
  expect_success(with("a.xyz", "a.xyz"));
  expect_success(with("a.xyz", "c.xyz"));
  auto const end = with("c.xyz", "a.xyz");
  expect_success(end);
  EXPECT_THAT(end.out, testing::HasSubstr("box 2 x 2 x 2 (Lattice) repeats"));
  expect_refusal(with("c.xyz", "c.xyz"),
                 "--cell file: found no box in .*c.xyz; give --cell numbers");
}
