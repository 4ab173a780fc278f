#include <nearfield/core/linear_map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nearfield::test
{
  using ::testing::ElementsAre;

  TEST(vec, adds_and_subtracts_by_component)
  {
    vec<double, 3> const a{1, 2, 3}, b{10, 20, 40};
    EXPECT_THAT((a + b).data, ElementsAre(11, 22, 43));
    EXPECT_THAT((b - a).data, ElementsAre(9, 18, 37));
    vec<double, 3> sum = a;
    sum += b;
    EXPECT_THAT(sum.data, ElementsAre(11, 22, 43));
    sum -= a;
    EXPECT_THAT(sum.data, ElementsAre(10, 20, 40));
  }

  TEST(vec, is_scaled_from_the_left)
  {
    EXPECT_THAT((2. * vec<double, 2>{1, -3}).data, ElementsAre(2, -6));
  }

  TEST(vec, has_a_dot_product)
  {
    EXPECT_EQ(dot(vec<float, 3>{1, 2, 3}, vec<float, 3>{4, -5, 6}), 12);
    EXPECT_EQ(dot(vec<float, 1>{3}, vec<float, 1>{4}), 12);
  }

  TEST(vec, computes_at_compile_time)
  {
    constexpr vec<int, 2> a{3, 4};
    static_assert(dot(a, a) == 25);
    static_assert((a - vec<int, 2>{1, 1})[1] == 3);
    SUCCEED();
  }
}
