#include "files.hpp"

#include <nearfield/io/read.hpp>

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

TEST(pqr, a_plane_reads_in_2d)
{
  auto const* const text = "ATOM 1 N LYS 1 1 2 3 0.5 1.8\nATOM 2 C LYS 1 4 5 3.0 0.25 1.8\n";
  auto const points = parse_pqr(text, "a.pqr", {.dim = 2});
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.positions, (columns{{1, 4}, {2, 5}}));
}
