#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

namespace nearfield::test
{
  TEST(cube, spans_its_centre_plus_and_minus_half_its_width)
  {
    cube<3> const box{{1, 2, -3}, 0.5};
    EXPECT_EQ(box.width(), 1);
    EXPECT_EQ(box.lower(0), 0.5);
    EXPECT_EQ(box.upper(1), 2.5);
    EXPECT_EQ(box.lower(2), -3.5);
  }

  TEST(cube, is_equal_where_centre_and_width_are)
  {
    cube<2> const box{{1, 2}, 0.5};
    EXPECT_EQ(box, (cube<2>{{1, 2}, 0.5}));
    EXPECT_NE(box, (cube<2>{{1, 2}, 0.25}));
    EXPECT_NE(box, (cube<2>{{1, 3}, 0.5}));
  }
}
