#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <cmath>
#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
}

TEST(fma, text_version_2_has_positions_inputs_and_outputs)
{
  auto const points =
      parse_fma("8 5 2 1\n2 1.5 0 0.25\n1 -1 0.5 7 8\n-1 1.25 -0.5 9 -10\n", "a.fma");
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.positions, (columns{{1, -1}, {-1, 1.25}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, -0.5}}));
  EXPECT_EQ(points.outputs, (columns{{7, 9}, {8, -10}}));
  ASSERT_TRUE(points.box);
  EXPECT_EQ(*points.box, (point_set::bounding_box{{0, 0.25}, 1.5}));
}

TEST(fma, text_version_1_is_3d_with_one_input)
{
  auto const points = parse_fma("8 4\n2 2 0 0 0\n1 0 -1 0.5\n0 1 0 -0.5\n", "a.fma");
  EXPECT_EQ(points.dim, 3);
  EXPECT_EQ(points.positions, (columns{{1, 0}, {0, 1}, {-1, 0}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, -0.5}}));
  EXPECT_TRUE(points.outputs.empty());
  EXPECT_EQ(*points.box, (point_set::bounding_box{{0, 0, 0}, 2}));
}

TEST(fma, text_version_1_with_eight_values_has_four_outputs)
{
  auto const points = parse_fma("8 8\n1 1 0 0 0\n.1 .2 .3 4 5 6 7 8", "a.fma");
  EXPECT_EQ(points.positions, (columns{{0.1}, {0.2}, {0.3}}));
  EXPECT_EQ(points.inputs, (columns{{4}}));
  EXPECT_EQ(points.outputs, (columns{{5}, {6}, {7}, {8}}));
}

namespace
{
  class fma_layout : public testing::TestWithParam<layout>
  {};
}

TEST_P(fma_layout, does_not_matter)
{
  auto const expected = parse_fma("8 3 2 1\n3 4 0 0\n1 2 3\n-1 -2 -3\n.5 .25 0\n", "a.fma");
  EXPECT_EQ(parse_fma(GetParam().text, "b.fma"), expected);
}

INSTANTIATE_TEST_SUITE_P(
    fma, fma_layout,
    testing::Values(
        layout{"no last line end", "8 3 2 1\n3 4 0 0\n1 2 3\n-1 -2 -3\n.5 .25 0"},
        layout{"line ends of Windows", "8 3 2 1\r\n3 4 0 0\r\n1 2 3\r\n-1 -2 -3\r\n.5 .25 0\r\n"},
        layout{"blanks and blank lines",
               "\n  8\t3 2   1 \n\n\n 3\n4\n0 0 \n\n1 2 3\n\n-1 -2 -3\n.5 .25 0\n\n \n"},
        layout{"all on one line", "8 3 2 1\n3 4 0 0 1 2 3 -1 -2 -3 .5 .25 0\n"},
        layout{"two records on a line", "8 3 2 1\n3 4 0 0\n1 2 3 -1 -2 -3\n.5 .25 0\n"},
        layout{"records over lines", "8 3 2 1\n3 4 0 0\n1 2\n3\n-1\n-2 -3\n.5\n.25\n0\n"},
        layout{"byte order mark", "\xef\xbb\xbf"
                                  "8 3 2 1\n3 4 0 0\n1 2 3\n-1 -2 -3\n.5 .25 0\n"},
        layout{"ways to write a number",
               "8 3 2 1\n3 4e0 0 0\n+1 2.0 30e-1\n-1 -2E+0 -3.\n5e-1 .25 -0\n"}));

TEST(fma, binary_version_2)
{
  auto const content = bytes(8u, 4u, 2u, 1u, std::uint64_t{2}, 1.5, 0.0, 0.25, //
                             1.0, -1.0, 0.5, 7.0, -1.0, 1.25, -0.5, 9.0);
  auto const points = parse_fma(content, "a.bfma");
  EXPECT_EQ(points.dim, 2);
  EXPECT_EQ(points.positions, (columns{{1, -1}, {-1, 1.25}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, -0.5}}));
  EXPECT_EQ(points.outputs, (columns{{7, 9}}));
  EXPECT_EQ(*points.box, (point_set::bounding_box{{0, 0.25}, 1.5}));
}

TEST(fma, binary_version_1_in_single_precision)
{
  // two points: the count stands where version 2 has its dimension, only the size tells
  auto const content = bytes(4u, 4u, std::int64_t{2}, 1.5f, 0.f, 0.25f, 1.f, //
                             1.f, -1.f, 0.5f, 7.f, -1.f, 1.25f, 0.1f, 9.f);
  auto const points = parse_fma(content, "a.bfma");
  EXPECT_EQ(points.dim, 3);
  EXPECT_EQ(points.positions, (columns{{1, -1}, {-1, 1.25}, {0.5, static_cast<double>(0.1f)}}));
  EXPECT_EQ(points.inputs, (columns{{7, 9}}));
  EXPECT_EQ(*points.box, (point_set::bounding_box{{0, 0.25, 1}, 1.5}));
}

TEST(fma, single_precision_text_is_rounded_once_to_float)
{
  // above a tie of two floats by less than a double shows: rounding twice gives 1
  auto const points = parse_fma("4 2 2 0\n1 2 0 0\n1.0000000596046447754 0.1\n", "a.fma");
  EXPECT_EQ(points.positions[0][0], static_cast<double>(std::nextafter(1.f, 2.f)));
  EXPECT_EQ(points.positions[1][0], static_cast<double>(0.1f));
}

TEST(fma, values_below_the_smallest_are_zero)
{
  auto const points = parse_fma("8 3 2 1\n1 2 0 0\n1e-400 -1e-999999999999999999999 "
                                "0.00000000000000000001e-310\n",
                                "a.fma");
  EXPECT_EQ(points.positions, (columns{{0}, {0}}));
  EXPECT_TRUE(std::signbit(points.positions[1][0]));
  EXPECT_EQ(points.inputs, (columns{{0}}));
  EXPECT_EQ(parse_fma("8 2 2 0\n1 2 0 0\n5e-324 0\n", "a.fma").positions[0][0], 5e-324);
}

TEST(fma, no_points_is_valid)
{
  for (auto const* text : {"8 4 3 1\n0 1 0 0 0\n", "8 4\n0 1 0 0 0"})
  {
    auto const points = parse_fma(text, "a.fma");
    EXPECT_EQ(points.size(), 0u) << text;
    EXPECT_EQ(points.dim, 3) << text;
    EXPECT_EQ(points.inputs.size(), 1u) << text;
  }
  EXPECT_TRUE(parse_fma("8 4 3 1\n0 1 0 0 0\n", "a.fma").box);
  EXPECT_EQ(parse_fma(bytes(8u, 4u, std::int64_t{0}, 1., 0., 0., 0.), "a.bfma").size(), 0u);
  EXPECT_EQ(parse_fma(bytes(4u, 3u, 2u, 1u, std::uint64_t{0}, 1.f, 0.f, 0.f), "a.bfma").dim, 2);
}

TEST(fma, infinite_outputs_are_read_as_they_are)
{
  auto const points = parse_fma("8 4 2 1\n1 1 0 0\n0 0 1 inf\n", "a.fma");
  EXPECT_TRUE(std::isinf(points.outputs[0][0]));
}
