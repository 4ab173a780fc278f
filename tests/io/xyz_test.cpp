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
  EXPECT_THAT(format_xyz(points, {write_options::f32}), testing::HasSubstr("\n0.1 3 0 5 7"));
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

TEST(xyz, keys_have_any_case_and_names_the_synonyms_of_the_field)
{
  for (char const* key : {"Properties", "properties", "PROPERTIES"})
    for (std::string const positions : {"pos", "positions", "Position", "coordinates"})
      for (std::string const charge : {"charge", "charges", "initial_charges", "q", "Q"})
      {
        file_report report;
        auto const points =
            parse_xyz("1\nenergy=-3.5 " + std::string(key) + "=species:S:1:" + positions +
                          ":R:3:forces:R:3:" + charge + ":R:1\nPb 1 2 3 .1 .1 .1 5\n",
                      "a.xyz", {}, &report);
        EXPECT_EQ(points.positions, (columns{{1}, {2}, {3}}));
        EXPECT_EQ(points.inputs, (columns{{5}}));
        EXPECT_EQ(report.positions, std::vector<std::string>{positions});
        EXPECT_EQ(report.left_out, (std::vector<std::string>{"species", "forces"}));
      }
  auto const momenta = parse_xyz(
      "1\nProperties=species:S:1:pos:R:3:momenta:R:3:masses:R:1\nH 1 2 3 2 4 8 2\n", "a.xyz");
  EXPECT_EQ(momenta.velocities, (columns{{1}, {2}, {4}}));
  auto const plane = parse_xyz("1\nProperties=pos:R:2:velocities:R:2\n1 2 3 4\n", "a.xyz");
  EXPECT_EQ(plane.dim, 2);
  EXPECT_EQ(plane.velocities, (columns{{3}, {4}}));
  // part of a longer key, which is another one
  EXPECT_EQ(parse_xyz("1\nold_Properties=pos:R:3:q:R:1\nH 1 2 3\n", "a.xyz").inputs.size(), 0u);
}

TEST(xyz, the_comment_names_columns_as_one_of_text_does)
{
  auto const inputs = [](std::string const& text)
  {
    return parse_xyz(text, "a.xyz").inputs;
  };
  EXPECT_EQ(inputs("2\n# x y z q\n1 0 0 0.5\n6 1 2 3\n"), (columns{{0.5, 3}}));
  EXPECT_EQ(inputs("1\nspecies X Y Z charge\nH 1 2 3 4\n"), (columns{{4}}));
  for (std::string const comment : {"x y z", "a molecule", ""})
    EXPECT_EQ(parse_xyz("1\n" + comment + "\n1 2 3 4\n", "a.xyz").positions,
              (columns{{2}, {3}, {4}}))
        << comment;
}

TEST(xyz, keys_may_stand_apart_from_their_values)
{
  file_report report;
  auto const points = parse_xyz("1\nenergy= -3 Properties = id:I:1:pos:R:3:q:R:1 Lattice = \"4 0 0 "
                                "0 5 0 0 0 6\" pbc =\"T T F\"\n7 1 2 3 5\n",
                                "a.xyz", {}, &report);
  EXPECT_EQ(points.positions, (columns{{1}, {2}, {3}}));
  EXPECT_EQ(points.inputs, (columns{{5}}));
  EXPECT_EQ(report.cell.value().lengths(), (std::array<double, 3>{4, 5, 0}));
  EXPECT_EQ(report.left_out, std::vector<std::string>{"id"});
}

TEST(xyz, an_atomic_number_z_is_no_coordinate)
{
  for (std::string const properties : {"Z:I:1:pos:R:3", "pos:R:3:Z:I:1"})
  {
    auto const points = parse_xyz("1\nProperties=" + properties + "\n1 1 1 1\n", "a.xyz");
    EXPECT_EQ(points.positions, (columns{{1}, {1}, {1}}));
  }
  for (std::string const velocities : {"", ":velo:R:3"})
    EXPECT_EQ(parse_xyz("1\nProperties=X:I:1:Y:I:1:Z:I:1" + velocities + "\n1 2 3" +
                            (velocities.empty() ? "" : " 4 5 6") + "\n",
                        "a.xyz")
                  .positions,
              (columns{{1}, {2}, {3}}));
}

TEST(xyz, a_box_that_is_not_read_is_named)
{
  auto const left_out = [](std::string const& comment)
  {
    file_report report;
    parse_xyz("1\n" + comment + "\nH 1 2 3\n", "a.xyz", {}, &report);
    return report.left_out;
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(left_out("pbc=\"T T T\""), (names{"symbol", "pbc of its comment"}));
  EXPECT_EQ(left_out("pbc=\"F F F\""), names{"symbol"}); // of molecules
  EXPECT_EQ(left_out("cell=\"4 0 0 0 4 0 0 0 4\""), (names{"symbol", "cell of its comment"}));
  EXPECT_EQ(left_out("# CELL(abcABC): 4 4 4 90 90 90"),
            (names{"symbol", "cell(abcabc): of its comment"}));
  EXPECT_EQ(left_out("Lattice = 4"), (names{"symbol", "lattice of its comment"}));
  EXPECT_EQ(left_out("an empty box, energy=3"), names{"symbol"});
  std::string const lattice = "Lattice=\"4 0 0 0 4 0 0 0 4\" ";
  EXPECT_THAT(message_of([&] { left_out(lattice + lattice); }),
              testing::HasSubstr("line 2: found Lattice= twice, expected one box"));
}

TEST(xyz, a_byte_order_mark_is_no_part_of_the_number)
{
  temporary_folder const folder;
  write_text(folder / "a.xyz", std::string("\xef\xbb\xbf") + "1\n\nH 1 2 3\n");
  EXPECT_EQ(read_points(folder / "a.xyz").positions, (columns{{1}, {2}, {3}}));
}

TEST(xyz, an_atomic_number_is_a_symbol)
{
  file_report report;
  auto const points = parse_xyz("2\n\n1 1 2 3\n118 4 5 6\n", "a.xyz", {}, &report);
  EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(report.format, "XYZ");
  EXPECT_EQ(report.left_out, std::vector<std::string>{"column 1, of atomic numbers"});
  parse_xyz("1\n\nH 1 2 3\n", "a.xyz", {}, &report);
  EXPECT_EQ(report.left_out, std::vector<std::string>{"symbol"});
}

TEST(xyz, the_box_is_reported)
{
  auto const cell_of = [](std::string const& comment)
  {
    file_report report;
    parse_xyz("1\n" + comment + "\nH 1 2 3\n", "a.xyz", {}, &report);
    return report.cell;
  };
  auto const cube = cell_of("Lattice=\"4.0 0 0 0 5 0 0 0 6\" Origin=\"-2 0 1\"");
  EXPECT_EQ(cube.value().lengths(), (std::array<double, 3>{4, 5, 6}));
  EXPECT_EQ(cube->origin, (std::array<double, 3>{-2, 0, 1}));
  EXPECT_EQ(cube->from, "Lattice");
  EXPECT_FALSE(cube->periodic);
  auto const slab = cell_of("pbc=\"T T F\" lattice=\"4 0 0 1e-15 5 0 0 0 6\"");
  EXPECT_EQ(slab.value().lengths(), (std::array<double, 3>{4, 5, 0}));
  EXPECT_FALSE(cell_of("Lattice=\"4 0 0 1 5 0 0 0 6\"").value().lengths());
  EXPECT_FALSE(cell_of("Lattice=\"4 0 0 0 -5 0 0 0 6\"").value().lengths());
  EXPECT_FALSE(cell_of("a cubic lattice = 4"));
}

TEST(xyz, columns_with_that_extension_are_columns)
{
  temporary_folder const folder;
  write_text(folder / "a.xyz", "1 2 3 4\n");
  EXPECT_EQ(read_points(folder / "a.xyz").inputs, (columns{{4}}));
}
