#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;

  std::string file_of(std::string const& heading, std::string const& rows)
  {
    return "title with 7 atoms\n\n2 atoms\n1 bonds\n1 atom types\n\n-1 1 xlo xhi\n-1 1 ylo yhi\n"
           "-1 1 zlo zhi\n\nMasses\n\n1 16 # O\n\n" +
           heading + "\n\n" + rows + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n\nBonds\n\n1 1 1 2\n";
  }

  struct style_case
  {
    std::string style;
    std::string rows;
    bool charged;
  };

  std::ostream& operator<<(std::ostream& out, style_case const& tested)
  {
    return out << tested.style;
  }

  class lammps_style : public testing::TestWithParam<style_case>
  {};
}

TEST_P(lammps_style, has_its_columns)
{
  auto const& [style, rows, charged] = GetParam();
  for (auto const& [heading, option] :
       {std::pair{"Atoms # " + style, std::string()}, std::pair{std::string("Atoms"), style}})
  {
    auto const points = parse_lammps(file_of(heading, rows), "data.a", {.atom_style = option});
    EXPECT_EQ(points.dim, 3);
    EXPECT_EQ(points.positions, (columns{{0.5, 0.25}, {1.5, 1.25}, {2.5, 2.25}}));
    EXPECT_EQ(points.inputs, charged ? (columns{{-0.8, 0.4}}) : columns{});
  }
}

INSTANTIATE_TEST_SUITE_P(
    lammps, lammps_style,
    testing::Values(
        style_case{"atomic", "1 1 .5 1.5 2.5\n2 1 .25 1.25 2.25\n", false},
        style_case{"atomic", "1 1 .5 1.5 2.5 0 -1 2\n2 1 .25 1.25 2.25\n", false},
        style_case{"charge", "1 1 -.8 .5 1.5 2.5\n2 1 .4 .25 1.25 2.25\n", true},
        style_case{"full", "1 9 1 -.8 .5 1.5 2.5 0 0 0 # O\n2 9 1 .4 .25 1.25 2.25 0 0 0\n", true},
        style_case{"molecular", "1 9 1 .5 1.5 2.5\n2 9 1 .25 1.25 2.25\n", false},
        style_case{"bond", "1 9 1 .5 1.5 2.5\n2 9 1 .25 1.25 2.25\n", false},
        style_case{"angle", "1 9 1 .5 1.5 2.5\n2 9 1 .25 1.25 2.25\n", false},
        style_case{"dipole", "1 1 -.8 .5 1.5 2.5 1 0 0\n2 1 .4 .25 1.25 2.25 0 1 0\n", true},
        style_case{"sphere", "1 1 1 7.8 .5 1.5 2.5\n2 1 1 7.8 .25 1.25 2.25\n", false},
        style_case{"body", "1 1 0 9 .5 1.5 2.5\n2 1 1 9 .25 1.25 2.25\n", false},
        style_case{"bpm/sphere", "1 9 1 8 7 .5 1.5 2.5\n2 9 1 8 7 .25 1.25 2.25\n", false},
        style_case{"dielectric",
                   "1 1 -.8 .5 1.5 2.5 1 0 0 2 3 4 5 6\n2 1 .4 .25 1.25 2.25 0 1 0 2 3 4 5 6\n",
                   true},
        style_case{"smd",
                   "1 1 9 8 7 6 5 .1 .2 .3 .5 1.5 2.5\n2 1 9 8 7 6 5 .1 .2 .3 .25 1.25 2.25\n",
                   false},
        style_case{"template", "1 1 9 1 1 .5 1.5 2.5\n2 1 9 1 2 .25 1.25 2.25\n", false},
        style_case{"wavepacket", "1 1 -.8 1 9 1 0 1 .5 1.5 2.5\n2 1 .4 -1 9 2 0 1 .25 1.25 2.25\n",
                   true},
        style_case{"dpd", "1 1 9 .5 1.5 2.5\n2 1 9 .25 1.25 2.25\n", false},
        style_case{"edpd", "1 1 9 8 .5 1.5 2.5\n2 1 9 8 .25 1.25 2.25\n", false},
        style_case{"electron", "1 1 -.8 1 9 .5 1.5 2.5\n2 1 .4 -1 9 .25 1.25 2.25\n", true},
        style_case{"ellipsoid", "1 1 0 9 .5 1.5 2.5\n2 1 1 9 .25 1.25 2.25\n", false},
        style_case{"line", "1 9 1 0 8 .5 1.5 2.5\n2 9 1 1 8 .25 1.25 2.25\n", false},
        style_case{"mdpd", "1 1 9 .5 1.5 2.5\n2 1 9 .25 1.25 2.25\n", false},
        style_case{"meso", "1 1 9 8 7 .5 1.5 2.5\n2 1 9 8 7 .25 1.25 2.25\n", false},
        style_case{"peri", "1 1 9 8 .5 1.5 2.5\n2 1 9 8 .25 1.25 2.25\n", false},
        style_case{"spin", "1 1 .5 1.5 2.5 1 0 0 9\n2 1 .25 1.25 2.25 0 1 0 9\n", false},
        style_case{"tri", "1 9 1 0 8 .5 1.5 2.5\n2 9 1 1 8 .25 1.25 2.25\n", false},
        style_case{"sph", "1 1 1e3 0 1 .5 1.5 2.5\n2 1 1e3 0 1 .25 1.25 2.25\n", false}));

TEST(lammps, the_option_comes_before_the_comment)
{
  auto const text = file_of("Atoms # molecular", "1 1 -8 .5 1.5 2.5\n2 1 4 .25 1.25 2.25\n");
  EXPECT_EQ(parse_lammps(text, "data.a", {.atom_style = "charge"}).inputs, (columns{{-8, 4}}));
}

TEST(lammps, an_id_names_one_atom_unless_all_are_0)
{
  EXPECT_EQ(
      message_of([] { parse_lammps(file_of("Atoms # atomic", "7 1 1 2 3\n7 1 4 5 6\n"), "a"); }),
      "a: line 18: found atom id 7, already used on line 17, expected a unique id for each "
      "atom");
  EXPECT_EQ(parse_lammps("title\n2 atoms\nAtoms # atomic\n\n0 1 1 2 3\n0 1 4 5 6\n", "a").size(),
            2u);
}

TEST(lammps, columns_of_velocities_have_a_value_for_each_atom)
{
  auto const points = parse_lammps(
      "title\n2 atoms\nAtoms # id type x y z vx vy vz\n\n1 1 1 2 3 4 5 6\n2 1 0 0 0 7 8 9\n", "a");
  EXPECT_EQ(points.velocities, (columns{{4, 7}, {5, 8}, {6, 9}}));
}

TEST(lammps, no_atoms_is_valid)
{
  EXPECT_EQ(parse_lammps("title\n0 atoms\n", "data.a").size(), 0u);
  EXPECT_EQ(parse_lammps("title\n0 atoms\n\nAtoms # full\n\n", "data.a").inputs.size(), 1u);
}

TEST(lammps, a_plane_reads_in_2d)
{
  auto const text = file_of("Atoms # atomic", "1 1 1 2 0\n2 1 3 4 0.0\n");
  EXPECT_EQ(parse_lammps(text, "data.a", {.dim = 2}).positions, (columns{{1, 3}, {2, 4}}));
}
