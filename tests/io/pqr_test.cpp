#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <cmath>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
}

TEST(pqr, the_last_five_fields_are_x_y_z_charge_radius)
{
  auto const points =
      parse_pqr("REMARK   1 of 2\n"
                "ATOM      1  N   NTE     1      67.253  25.892  -0.145  0.185 1.824\n"
                "HETATM    2  O   HOH   -12       1.5     2.5     3.5   -0.8   1.6\n"
                "TER\nEND\n",
                "a.pqr");
  EXPECT_EQ(points.positions, (columns{{67.253, 1.5}, {25.892, 2.5}, {-0.145, 3.5}}));
  EXPECT_EQ(points.inputs, (columns{{0.185, -0.8}}));
  EXPECT_EQ(points.input_names, (std::vector<std::string>{"q"}));
  EXPECT_FALSE(points.box);
}

TEST(pqr, numbers_that_touch_stand_where_those_of_pdb_do)
{
  auto const read = [](std::string const& row)
  {
    return parse_pqr(
        "ATOM      1 N    LYS A   7       5.751  20.500  19.252  0.1000 1.5000\n" + row, "a");
  };
  for (auto const& [row, point] : std::vector<std::pair<std::string, std::vector<double>>>{
           {"ATOM      2 O    LYS A   7      45.751  20.406-119.252 -0.4800 1.7000\n",
            {45.751, 20.406, -119.252, -0.48}},
           {"ATOM      2 O    LYS A   7     -45.751-100.406  19.252 -0.4800 1.7000\n",
            {-45.751, -100.406, 19.252, -0.48}},
           {"ATOM      2 O    LYS A   7    -145.751-100.406-119.252 -0.4800 1.7000\n",
            {-145.751, -100.406, -119.252, -0.48}},
           {"ATOM  12345 O    LYS     7     -45.751-100.406  19.252 -0.4800 1.7000 O\n",
            {-45.751, -100.406, 19.252, -0.48}},
           {"HETATM12345 O    LYS A1007    -145.751-100.406-119.252-10.48001.7000\n",
            {-145.751, -100.406, -119.252, -10.48}}})
  {
    auto const points = read(row);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ((std::vector<double>{points.positions[0][1], points.positions[1][1],
                                   points.positions[2][1], points.inputs[0][1]}),
              point)
        << row;
  }
  EXPECT_THAT(
      message_of([&]
                 { read("ATOM      2 O    LYS A   7      45.751  20.4x6-119.252 -0.48 1.7\n"); }),
      testing::HasSubstr("line 2: found"));
  // elsewhere they are no numbers
  EXPECT_THAT(message_of([&] { read("ATOM 2 O LYS A 7 45.751 20.406-119.252 -0.48 1.7\n"); }),
              testing::HasSubstr("line 2: found 'A' before x"));
}

// Occupancies would be read as charges.
TEST(pqr, of_rows_of_pdb_is_refused)
{
  std::string const start = "ATOM      1  N   MET A   1      27.340  24.430   2.614";
  for (std::string const end :
       {"  1.00  9.67           N  ", "  1.00 10.38", "  0.50 99.00      A    N1+"})
    EXPECT_THAT(message_of([&] { parse_pqr("TITLE\n" + start + end + "\n", "a"); }),
                testing::HasSubstr("line 2: found rows of PDB, with occupancy and temperature "
                                   "factor, expected charge and radius"))
        << end;
  for (std::string const end :
       {"  1.0000 1.5000", "  1.000 1.50", " -1.00  1.50", "  1.00   1.50", "  1.00  1.500"})
    EXPECT_EQ(parse_pqr(start + end + "\n", "a").size(), 1u) << end;
  EXPECT_EQ(parse_pqr(start + "  1.00  1.50\n" + start + " -1.00  1.50\n", "a").size(), 2u);
}

TEST(pqr, names_of_rows_have_any_case)
{
  auto const points =
      parse_pqr("atom 1 N LYS 1 1 2 3 0.5 1.8\nHetatm 1 N LYS 1 4 5 6 0.5 1.8\n", "a");
  EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}, {3, 6}}));
}

TEST(pqr, the_box_and_the_radii_are_reported)
{
  file_report report;
  std::string const row = "ATOM 1 N LYS 1 1 2 3 0.5 1.8\n";
  parse_pqr("CRYST1   10.000   20.000   30.000  90.00  90.00  90.00 P 1\n" + row, "a", {}, &report);
  EXPECT_EQ(report.format, "PQR");
  EXPECT_EQ(report.inputs, std::vector<std::string>{"charge"});
  EXPECT_EQ(report.left_out, std::vector<std::string>{"radius"});
  EXPECT_EQ(report.cell.value().lengths(), (std::array<double, 3>{10, 20, 30}));
  parse_pqr("CRYST110000.00020000.00030000.000  90.00  90.00  90.00 P 1\n" + row, "a", {}, &report);
  EXPECT_EQ(report.cell.value().lengths(), (std::array<double, 3>{10000, 20000, 30000}));
  parse_pqr("CRYST1 10 20 30 90 90 60\n" + row, "a", {}, &report);
  EXPECT_FALSE(report.cell.value().lengths());
  EXPECT_NEAR(report.cell->vectors[1][0], 10, 1e-12);
  parse_pqr("CRYST1 10 20 30 60 60 90\n" + row, "a", {}, &report);
  EXPECT_NEAR(report.cell->vectors[2][0], 15, 1e-12);
  EXPECT_NEAR(report.cell->vectors[2][1], 15, 1e-12);
  EXPECT_NEAR(report.cell->vectors[2][2], 30 * std::sqrt(.5), 1e-12);
  parse_pqr("CRYST1 1 1 1 90 90 90\n" + row, "a", {},
            &report); // PDB's way to say that there is none
  EXPECT_FALSE(report.cell);
}

TEST(pqr, a_chain_is_one_field_more)
{
  auto const points =
      parse_pqr("ATOM 1 N LYS D  52A 1 2 3 0.5 1.8\nATOM 2 C LYS D1000 4 5 6 0.25 1.8\n", "a.pqr");
  EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, 0.25}}));
}

TEST(pqr, some_rows_have_a_chain_and_others_have_not)
{
  std::string const with = "ATOM 1 N LYS D 1 1 2 3 0.5 1.8\n",
                    without = "ATOM 2 C LYS 2 4 5 6 .25 1\n",
                    joined = "ATOM 3 C LYS D1000 7 8 9 -1 1\n";
  auto const points = parse_pqr(with + without + joined, "a.pqr");
  EXPECT_EQ(points.positions, (columns{{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, 0.25, -1}}));
  EXPECT_EQ(parse_pqr(without + joined + with, "a.pqr").inputs, (columns{{0.25, -1, 0.5}}));
}

TEST(pqr, a_plane_reads_in_2d)
{
  auto const* const text = "ATOM 1 N LYS 1 1 2 3 0.5 1.8\nATOM 2 C LYS 1 4 5 3.0 0.25 1.8\n";
  auto const points = parse_pqr(text, "a.pqr", {.dim = 2});
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}}));
}
