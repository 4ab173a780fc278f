#include "files.hpp"

#include <nearfield/io/points.hpp>

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
