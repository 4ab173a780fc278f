#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
  using names = std::vector<std::string>;
}

namespace
{
  class columns_layout : public testing::TestWithParam<layout>
  {};
}

TEST_P(columns_layout, is_recognised)
{
  auto const points = parse_columns(GetParam().text, "a.csv");
  EXPECT_EQ(points.dim, 3);
  EXPECT_EQ(points.positions, (columns{{1, -4}, {2, 5}, {3, 0.5}}));
  EXPECT_EQ(points.inputs, (columns{{0.25, -1}}));
  EXPECT_EQ(points.input_names, names{"q"});
}

INSTANTIATE_TEST_SUITE_P(
    columns, columns_layout,
    testing::Values(
        layout{"commas", "x,y,z,q\n1,2,3,0.25\n-4,5,0.5,-1\n"},
        layout{"blanks, no last line end", "1 2 3 .25\n-4 5 .5 -1"},
        layout{"semicolons", "1;2;3;.25\n\n-4 ; 5 ; .5 ; -1\n"},
        layout{"tabs", "\t1\t2  3 .25\r\n -4 5 .5 -1 \r\n"},
        layout{"comments", "# made by hand\n1 2 3 .25\n# half\n-4 5 .5 -1\n"},
        layout{"names in a comment", "# x y z q\n1 2 3 .25\n-4 5 .5 -1\n"},
        layout{"names with blanks, rows with commas", "x y z q\n1,2,3,.25\n-4,5,.5,-1\n"},
        layout{"names with commas, rows with blanks", "x,y,z,q\n1 2 3 .25\n-4 5 .5 -1\n"},
        layout{"names in another order", "q z y x\n.25 3 2 1\n-1 .5 5 -4\n"},
        layout{
            "names and values in quotes",
            "\"x\",\"y\",\"z\",\"q\"\n\"1\",\"2\",\"3\",\"0.25\"\n\"-4\",\"5\",\" .5 \",\"-1\"\n"},
        layout{"a separator in quotes",
               "\"a,b\",x,y,z,q\n\"1,5\",1,2,3,.25\n\"a \"\"b\"\", c\",-4,5,.5,-1\n"},
        layout{"an index without a name", ",x,y,z,q\n0,1,2,3,.25\n1,-4,5,.5,-1\n"},
        layout{"an index without a name, and tabs",
               "\tx\ty\tz\tq\n0\t1\t2\t3\t.25\n1\t-4\t5\t.5\t-1\n"},
        layout{"names of rows as of R",
               "\"x\" \"y\" \"z\" \"q\"\n\"1\" 1 2 3 .25\n\"2 b\" -4 5 .5 -1\n"},
        layout{"the number of points below a comment, as of CloudCompare",
               "//X Y Z q R\n2\n1 2 3 .25 255\n-4 5 .5 -1 255\n"},
        layout{"an empty column between tabs", "x\ty\tz\t\tq\n1\t2\t3\t\t.25\n-4\t5\t.5\t\t-1\n"},
        layout{"comments of other programs",
               "% x y z q\n! from a solver\n1 2 3 .25\n// half\n-4 5 .5 -1\n"},
        layout{"a column to skip", "_,x,y,z,q\nO,1,2,3,.25\nH,-4,5,.5,-1\n"}));

TEST(columns, names_given_come_before_those_of_the_header)
{
  auto const points = parse_columns("a b c d e\n1 2 3 4 word\n5 6 7 8 word\n", "a.txt",
                                    {.columns = {"q2", "y", "x", "q1", "_"}});
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.positions, (columns{{3, 7}, {2, 6}}));
  EXPECT_EQ(points.inputs, (columns{{4, 8}, {1, 5}}));
  EXPECT_EQ(points.input_names, (names{"q1", "q2"}));
}

TEST(columns, with_names_given_a_header_has_a_name_above_each_column_that_is_read)
{
  auto const read = [](std::string_view text, names const& columns)
  {
    return parse_columns(text, "a.csv", {.columns = columns}).positions;
  };
  columns const points{{1, 3}, {2, 4}};
  EXPECT_EQ(read("1,2\n3,4\n", {"x", "y"}), points);
  EXPECT_EQ(read("e1,e-x\n1,2\n# N/A,1\n3,4\n", {"x", "y"}), points);
  EXPECT_EQ(read("a,a,b\n0,1,2\n1,3,4\n", {"_", "x", "y"}), points);
  EXPECT_EQ(read("Points:0,_b\n1,2\n3,4\n", {"x", "y"}), points);
  EXPECT_EQ(read("\"x [nm]\",\"y [nm]\"\n1,2\n3,4\n", {"x", "y"}), points);
  EXPECT_EQ(read("x [nm]\ty [nm]\n1\t2\n3\t4\n", {"x", "y"}), points);
  EXPECT_EQ(read(",a,b\n0,1,2\n1,3,4\n", {"_", "x", "y"}), points);
  EXPECT_EQ(read("\ta\tb\n0\t1\t2\n1\t3\t4\n", {"_", "x", "y"}), points);
}

TEST(columns, outputs_have_names_too)
{
  file_report report;
  auto const points = parse_columns("x,y,q,phi,gx,gy\n1,2,3,4,5,6\n", "a.csv", {}, &report);
  EXPECT_EQ(report.outputs, (names{"phi", "gx", "gy"}));
  EXPECT_EQ(report.left_out, names{});
  EXPECT_EQ(points.outputs, (columns{{4}, {5}, {6}}));
  EXPECT_EQ(points.output_names, (names{"phi", "gx", "gy"}));
}

TEST(columns, without_names_the_dimension_says_what_they_are)
{
  EXPECT_EQ(parse_columns("1 2\n", "a.txt").dim, 2);
  EXPECT_EQ(parse_columns("1 2 3\n", "a.txt").dim, 3);
  auto const plane = parse_columns("1 2 3 4\n", "a.txt", {.dim = 2});
  EXPECT_EQ(plane.dim, 2);
  EXPECT_EQ(plane.inputs, (columns{{3}, {4}}));
  EXPECT_EQ(plane.input_names, (names{"q1", "q2"}));
}

TEST(columns, are_x_and_y_at_least)
{
  auto const message = [](std::string_view text, int dim)
  {
    return message_of([&] { parse_columns(text, "a.txt", {.dim = dim}); });
  };
  EXPECT_EQ(message("1\n", 0), "a.txt: line 1: found 1 column, expected at least x and y");
  EXPECT_EQ(message("1\n", 2), "a.txt: line 1: found 1 column, expected at least x and y");
  EXPECT_EQ(message("1 2\n", 3), "a.txt: line 1: found 2 columns, expected at least x, y and z");
}

TEST(columns, may_be_as_many_as_are_allowed)
{
  std::string row;
  for (int k = 0; k < 4096; ++k) row += "1 ";
  EXPECT_EQ(parse_columns(row + "\n", "a.txt").inputs.size(), 4093u);
  EXPECT_EQ(parse_fma("8 4096 3 4093\n1 3 0 0 0\n" + row + "\n", "a.fma").inputs.size(), 4093u);
}

TEST(columns, a_header_alone_is_no_points)
{
  auto const points = parse_columns("x,y,q\n", "a.csv");
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.size(), 0u);
  EXPECT_EQ(points.inputs.size(), 1u);
}

TEST(columns, a_tab_in_quotes_separates_nothing)
{
  EXPECT_EQ(message_of([] { parse_columns("\"a\tb\" 1 2 3\n", "a.txt"); }),
            "a.txt: line 1: found 'a\\x09b' for x, expected a number");
}

TEST(columns, blanks_separate_quoted_fields_as_others)
{
  auto const points = parse_columns("\"x\"  y  z\n \"1\"  2  3 \n", "a.csv");
  EXPECT_EQ(points.positions, (columns{{1}, {2}, {3}}));
}

TEST(columns, exponents_of_Fortran_are_read)
{
  auto const points = parse_columns("1.0D+00,-2.5d-3\n+1D3,.5d0\n1d-999,-1D-999\n", "a.csv");
  EXPECT_EQ(points.positions, (columns{{1, 1000, 0}, {-2.5e-3, 0.5, 0}}));
}
