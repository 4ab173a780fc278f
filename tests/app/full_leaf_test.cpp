#include "full_leaf.hpp"

#include <gtest/gtest.h>

using namespace nearfield::app;

TEST(full_leaf, is_named_where_a_level_does_not_part_many_points)
{
  cut_options const cut{.level = 5};
  EXPECT_EQ(warning_of(cut, {100'001, 0, 100'000, 9'999'900'000}),
            "--level 5 makes 9999900000 pairs: one of its leaves holds 100000 of 100001 points; "
            "leave out --level: the adaptive tree leaves gaps out");
  EXPECT_NE(warning_of(cut, {20'001, 0, 10'001, 1}), "");
  EXPECT_EQ(warning_of(cut, {10'000, 0, 10'000, 1}), "");
  EXPECT_EQ(warning_of(cut, {20'002, 0, 10'001, 1}), "");
  // a corner of eight leaves lies among the points
  EXPECT_NE(warning_of(cut, {100'001, 0, 12'600, 9'999'900'000}), "");
  EXPECT_EQ(warning_of(cut, {100'001, 0, 12'600, 5'000'000'000}), "");
  EXPECT_EQ(warning_of(cut, {10'000, 0, 1'260, 99'990'000}), "");
  for (int const level : {0, 1}) // all pairs, as asked
    EXPECT_EQ(warning_of({.level = level}, {20'001, 0, 20'001, 400'020'000}), "");
  EXPECT_EQ(warning_of({}, {20'001, 0, 20'001, 400'020'000}), "");
  EXPECT_EQ(warning_of(cut, {20'000, 1, 20'000, 20'000}),
            "--level 5 makes 20000 pairs: one of its leaves holds 20000 targets or sources; leave "
            "out --level: the adaptive tree leaves gaps out");
  EXPECT_EQ(warning_of(cut, {20'000, 100'000, 15'000, 20'000}), "") << "of many sources few";
}
