// What a LAMMPS data file has beside the positions: velocities, masses, labels of types, the box; and the columns of its
// Atoms section.
#include "files.hpp"

#include <nearfield/io/points.hpp>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
  using names = std::vector<std::string>;

  std::string file_of(std::string const& before, std::string const& heading,
                      std::string const& rows, std::string const& behind = "")
  {
    return "title\n\n2 atoms\n" + before + "\n" + heading + "\n\n" + rows + "\n" + behind;
  }

  std::string const atomic = "3 1 .5 1.5 2.5\n1 2 .25 1.25 2.25\n";
}

TEST(lammps_sections, velocities_and_masses_find_their_atoms)
{
  std::string const masses = "Masses\n\n1 16 # O\n2 1 # H\n",
                    velocities = "Velocities\n\n1 4 5 6\n3 1 2 3\n\n";
  for (auto const& text : {file_of(masses, "Atoms # atomic", atomic, velocities),
                           file_of("", "Atoms # atomic", atomic, velocities + masses)})
  {
    file_report report;
    auto const points = parse_lammps(text, "data.a", {}, &report);
    EXPECT_EQ(points.velocities, (columns{{1, 4}, {2, 5}, {3, 6}}));
    EXPECT_EQ(points.masses, (std::vector<double>{16, 1}));
    EXPECT_EQ(report.velocities, names{"section Velocities"});
    EXPECT_EQ(report.masses, names{"section Masses"});
    EXPECT_EQ(report.format, "LAMMPS data, atom style atomic");
    EXPECT_EQ(report.left_out, (names{"id", "type"}));
  }
  // of body, each atom has its own
  auto const bodies = parse_lammps(
      file_of("", "Atoms # body", "3 1 1 7 .5 1.5 2.5\n1 2 0 8 .25 1.25 2.25\n"), "data.a");
  EXPECT_EQ(bodies.masses, (std::vector<double>{7, 8}));
  auto const flat = parse_lammps(
      file_of("", "Atoms # atomic", "1 1 1 2 0\n2 1 3 4 0\n", "Velocities\n\n2 3 4 0\n1 1 2 0\n"),
      "data.a", {.dim = 2});
  EXPECT_EQ(flat.velocities, (columns{{1, 3}, {2, 4}}));
}

TEST(lammps_sections, have_names_in_any_case)
{
  file_report report;
  auto const points =
      parse_lammps("title\n2 Atoms\n-5 5 XLO XHI\n0 4 Ylo Yhi\n1 3 zlo zhi\nMASSES\n\n1 16\n2 1\n"
                   "ATOMS # Atomic\n\n" +
                       atomic + "velocities\n\n1 4 5 6\n3 1 2 3\n",
                   "data.a", {}, &report);
  EXPECT_EQ(points.velocities, (columns{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(points.masses, (std::vector<double>{16, 1}));
  EXPECT_EQ(report.cell.value().lengths(), (std::array<double, 3>{10, 4, 2}));
  EXPECT_EQ(report.left_out, (names{"id", "type"}));
}

TEST(lammps_sections, that_do_not_fit_the_atoms_are_refused)
{
  auto const message =
      [](std::string const& before, std::string const& behind, read_options options = {})
  {
    return message_of(
        [&]
        { parse_lammps(file_of(before, "Atoms # atomic", atomic, behind), "data.a", options); });
  };
  EXPECT_THAT(message("", "Velocities\n\n1 4 5 6\n"),
              testing::HasSubstr("found the velocities of 1 atom, expected those of all 2"));
  EXPECT_THAT(message("", "Velocities\n\n1 4 5 6\n1 4 5 6\n"),
              testing::HasSubstr("line 13: found the velocity of atom 1 twice"));
  EXPECT_THAT(message("", "Velocities\n\n2 4 5 6\n"),
              testing::HasSubstr("line 12: found the velocity of atom 2, expected an id"));
  EXPECT_THAT(message("", "Velocities\n\n1 4 5\n"), testing::HasSubstr("line 12: found 3 fields"));
  EXPECT_THAT(message("", "Velocities\n\n1 4 5 nan\n"), testing::HasSubstr("finite"));
  EXPECT_THAT(message("Velocities\n\n1 4 5 6\n", ""),
              testing::HasSubstr("Velocities before Atoms"));
  EXPECT_THAT(
      message("", "Masses\n\n1 16\n"),
      testing::HasSubstr("line 8: found type 2, expected one whose mass is in section Masses"));
  EXPECT_THAT(message("", "Masses\n\n1 16\n1 16\n"), testing::HasSubstr("type 1 twice"));
  EXPECT_THAT(message("", "Masses\n\n1 16\n2 x\n"), testing::HasSubstr("'x' for the mass"));
  EXPECT_THAT(message("Masses\n\n1 1\n2 1\n", "Masses\n\n1 16\n"),
              testing::HasSubstr("a second Masses section"));
  EXPECT_THAT(message("-1 x xlo xhi\n", ""), testing::HasSubstr("line 4: found 'x' for the box"));
  EXPECT_THAT(message("1 -1 xlo xhi\n", ""), testing::HasSubstr("line 4: found '1' above '-1'"));
}

TEST(lammps_sections, in_2d_nothing_moves_along_z)
{
  auto const plane =
      file_of("", "Atoms # atomic", "1 1 1 2 0\n2 1 3 4 0\n", "Velocities\n\n2 3 4 0\n1 1 2 0.5\n");
  EXPECT_THAT(message_of([&] { parse_lammps(plane, "data.a", {.dim = 2}); }),
              testing::HasSubstr("line 13: found the velocity 0.5 along z, expected 0"));
}

TEST(lammps_sections, types_may_have_labels)
{
  auto const text = file_of("Atom Type Labels\n\n1 O\n2 H\n\nMasses\n\nO 16\nH 1\n", "Atoms # full",
                            "1 1 H 0.4 .5 1.5 2.5\n2 1 1 -0.8 .25 1.25 2.25\n",
                            "Bond Coeffs # harmonic\n\nO-H 450 1\n\nBonds\n\n1 O-H 1 2\n");
  file_report report;
  auto const points = parse_lammps(text, "data.a", {}, &report);
  EXPECT_EQ(points.masses, (std::vector<double>{1, 16}));
  EXPECT_EQ(points.inputs, (columns{{0.4, -0.8}}));
  EXPECT_EQ(report.left_out, (names{"id", "mol", "type", "section Bond Coeffs", "section Bonds"}));
  EXPECT_THAT(
      message_of([&] { parse_lammps(file_of("", "Atoms # atomic", "1 H 1 2 3\n"), "data.a"); }),
      testing::HasSubstr("'H' for type, expected an integer, or a label"));
}

TEST(lammps_sections, atoms_of_hybrid_styles_have_the_columns_of_all)
{
  auto const both = "1 1 1 2 3 1.5 2.6 0.5\n2 1 4 5 6 1.5 2.6 -0.5 0 0 0\n";
  for (auto const& [heading, option] :
       {std::pair{"Atoms # hybrid sphere charge", ""}, {"Atoms", "hybrid sphere charge"}})
  {
    auto const points = parse_lammps(file_of("", heading, both), "data.a", {.atom_style = option});
    EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}, {3, 6}}));
    EXPECT_EQ(points.inputs, (columns{{0.5, -0.5}}));
  }
  // q of both is one column
  auto const twice = parse_lammps(
      file_of("", "Atoms # hybrid full dipole", "1 1 1 2 3 9 .5 0 0 1\n2 1 4 5 6 9 -.5 0 0 1\n"),
      "data.a");
  EXPECT_EQ(twice.inputs, (columns{{0.5, -0.5}}));
  // two flags are two
  auto const flags = parse_lammps(file_of("", "Atoms # hybrid line tri charge",
                                          "1 1 1 2 3 9 1 7 0 .5\n2 1 4 5 6 9 0 7 1 -.5\n"),
                                  "data.a");
  EXPECT_EQ(flags.inputs, (columns{{0.5, -0.5}}));
  EXPECT_THAT(
      message_of([&] { parse_lammps(file_of("", "Atoms # hybrid sphere rock", both), "a"); }),
      testing::HasSubstr("found atom style 'rock'"));
}

TEST(lammps_sections, the_columns_of_atoms_may_be_named)
{
  std::string const rows = "1 1 1 0.5 1 2 3\n2 1 1 -0.5 4 5 6 0 -1 0\n";
  for (char const* heading :
       {"Atoms # id mol type q x y z", "Atoms # atom-ID molecule-ID atom-type Charge X Y Z",
        "Atoms # id mol type charge pos_x pos_y pos_z"})
  {
    file_report report;
    auto const points = parse_lammps(file_of("", heading, rows), "data.a", {}, &report);
    EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}, {3, 6}})) << heading;
    EXPECT_EQ(points.inputs, (columns{{0.5, -0.5}}));
    EXPECT_EQ(report.left_out.back(), "image flags");
  }
  EXPECT_THAT(
      message_of(
          [&]
          { parse_lammps(file_of("", "Atoms # id mol type charge xu yu zu", rows), "data.a"); }),
      testing::HasSubstr("found no column x among 'id' 'mol' 'type' 'charge' 'xu' 'yu' ..., "
                         "expected columns x and y, and z in 3D (or give --columns)"));
  file_report left_out;
  // of two columns of types the first says masses
  auto const two_types =
      parse_lammps(file_of("Masses\n\n1 2\n2 3\n", "Atoms # id type atom-type x y z",
                           "1 1 2 1 2 3\n2 2 1 4 5 6\n"),
                   "data.a");
  EXPECT_EQ(two_types.masses, (std::vector<double>{2, 3}));
  auto const given = parse_lammps(
      file_of("Masses\n\n1 2\n", "Atoms # full", rows, "Velocities\n\n1 1 0 0\n2 0 1 0\n"),
      "data.a", {.columns = {"id", "_", "type", "m", "z", "y", "x"}}, &left_out);
  EXPECT_EQ(given.positions, (columns{{3, 6}, {2, 5}, {1, 4}}));
  EXPECT_EQ(given.masses, (std::vector<double>{0.5, -0.5}));
  EXPECT_EQ(left_out.left_out.at(3), "section Masses");
  EXPECT_EQ(given.velocities, (columns{{1, 0}, {0, 1}, {0, 0}}));
  EXPECT_THAT(message_of(
                  [&]
                  {
                    parse_lammps(file_of("", "Atoms", rows, "Velocities\n\n1 1 0 0\n"), "data.a",
                                 {.columns = {"_", "_", "_", "q", "x", "y", "z"}});
                  }),
              testing::HasSubstr("expected a column of --columns with the name id"));
}

TEST(lammps_sections, masses_of_types_without_a_column_for_the_type_are_left_out)
{
  for (bool const has_type : {true, false})
  {
    file_report report;
    auto const points =
        parse_lammps(file_of("Masses\n\n1 2\n2 3\n", "Atoms", "1 2 1 2 3\n2 1 4 5 6\n"), "data.a",
                     {.columns = {"id", has_type ? "type" : "_", "x", "y", "z"}}, &report);
    EXPECT_EQ(points.masses, has_type ? (std::vector<double>{3, 2}) : std::vector<double>{});
    EXPECT_EQ(report.lacks_types, !has_type);
    EXPECT_EQ(report.left_out.back(),
              has_type ? "column 2" : "section Masses (without a column type)");
  }
}

TEST(lammps_sections, the_box_is_reported)
{
  auto const cell_of = [](std::string const& header)
  {
    file_report report;
    parse_lammps(file_of(header, "Atoms # atomic", atomic), "data.a", {}, &report);
    return report.cell;
  };
  std::string const box = "-5 5 xlo xhi\n0 4 ylo yhi\n1 3 zlo zhi\n";
  auto const cell = cell_of(box);
  EXPECT_EQ(cell.value().lengths(), (std::array<double, 3>{10, 4, 2}));
  EXPECT_EQ(cell->origin, (std::array<double, 3>{-5, 0, 1}));
  EXPECT_EQ(cell_of(box + "0 0 0 xy xz yz\n").value().lengths(), cell->lengths());
  auto const tilted = cell_of(box + "1 2 3 xy xz yz\n");
  EXPECT_FALSE(tilted.value().lengths());
  EXPECT_EQ(tilted->vectors[2], (std::array<double, 3>{2, 3, 2}));
  auto const general = cell_of("1 1 0 avec\n0 2 0 bvec\n0 0 3 cvec\n1 2 3 abc origin\n");
  EXPECT_FALSE(general.value().lengths());
  EXPECT_EQ(general->origin, (std::array<double, 3>{1, 2, 3}));
  EXPECT_FALSE(cell_of(""));
}
