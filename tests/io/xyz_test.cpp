#include "files.hpp"

#include <nearfield/io/points.hpp>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
}

TEST(xyz, is_the_extended_format)
{
  point_set const points{.dim = 2,
                         .positions = {{1, 0.1}, {2, 3}},
                         .velocities = {{4, 5}, {6, 7}},
                         .masses = {8, 9},
                         .inputs = {{-1, 1}},
                         .outputs = {{0, 0.5}},
                         .output_names = {"my phi:"}};
  EXPECT_EQ(format_xyz(points), "2\nProperties=pos:R:3:velo:R:3:mass:R:1:q:R:1:my_phi_:R:1\n"
                                "1 2 0 4 6 0 8 -1 0\n0.1 3 0 5 7 0 9 1 0.5\n");
  EXPECT_THAT(format_xyz(points, {file_precision::f32}), testing::HasSubstr("\n0.1 3 0 5 7"));
}

TEST(xyz, what_is_written_comes_back)
{
  temporary_folder const folder;
  auto points = awkward_points(3, 50, 1, 7);
  points.velocities = points.positions;
  points.masses = points.inputs[0];
  points.input_names = {"q"};
  points.output_names = {"phi", "gx", "gy", "gz", "ax", "ay", "az"};
  write_points(folder / "a.xyz", points);
  EXPECT_EQ(read_points(folder / "a.xyz"), points);
  auto none = points;
  for (auto* group : {&none.positions, &none.velocities, &none.inputs, &none.outputs})
    for (auto& column : *group) column.clear();
  none.masses.clear();
  write_points(folder / "a.xyz", none);
  EXPECT_EQ(read_points(folder / "a.xyz").size(), 0u);
}

TEST(xyz, of_other_programs)
{
  auto const plain = parse_xyz("2\na comment\nH 1 2 3\nO 4 5 6\n", "a.xyz");
  EXPECT_EQ(plain.positions, (columns{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_TRUE(plain.velocities.empty());
  auto const extended =
      parse_xyz("1\r\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=\"species:S:1:pos:R:3:forces:R:3:"
                "velo:R:3:charge:R:1:mass:R:1\" pbc=\"T T T\"\r\nH 1 2 3 9 9 9 4 5 6 -1 2\r\n",
                "a.xyz");
  EXPECT_EQ(extended.positions, (columns{{1}, {2}, {3}}));
  EXPECT_EQ(extended.velocities, (columns{{4}, {5}, {6}}));
  EXPECT_EQ(extended.inputs, (columns{{-1}}));
  EXPECT_EQ(extended.masses, (std::vector<double>{2}));
  EXPECT_TRUE(extended.outputs.empty());
  EXPECT_EQ(parse_xyz("1\n\nH 1 2 3\n", "a.xyz", {.columns = {"_", "y", "x", "q"}}).inputs,
            (columns{{3}}));
}

TEST(xyz, columns_with_that_extension_are_columns)
{
  temporary_folder const folder;
  write_text(folder / "a.xyz", "1 2 3 4\n");
  EXPECT_EQ(read_points(folder / "a.xyz").inputs, (columns{{4}}));
}
