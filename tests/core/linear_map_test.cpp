#include <nearfield/core/linear_map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nearfield::test
{
  using ::testing::ElementsAre;

  namespace
  {
    vec<double, 3> const r{1, -2, 3}, minus_r{-1, 2, -3};
    vec<double, 1> const charge{5};
  }

  TEST(mat, is_a_matrix_times_a_column)
  {
    mat<double, 2, 3> const map{{{1, 2, 3}, {4, 5, 6}}};
    vec<double, 3> const q{1, 10, 100};
    EXPECT_THAT(map.to(q).data, ElementsAre(321, 654));
    EXPECT_THAT((map * q).data, ElementsAre(321, 654));
  }

  TEST(radial, is_the_matrix_of_its_formula)
  {
    radial<double, 3> const map{2, r};
    EXPECT_THAT(map.to(charge).data, ElementsAre(10, -20, 30));
    EXPECT_THAT((map * charge).data, ElementsAre(10, -20, 30));
  }

  TEST(value_radial, is_a_value_and_its_gradient)
  {
    value_radial<double, 3> const map{2, -3, r};
    EXPECT_THAT(map.to(charge).data, ElementsAre(10, -30, 60, -90));
    value_radial<double, 2> const plane{2, -3, {1, 4}};
    EXPECT_THAT(plane.to(charge).data, ElementsAre(10, -30, -120));
  }

  TEST(isotropic, is_the_matrix_of_its_formula)
  {
    // 5 (2 I - 3 r r^T)
    mat<double, 3, 3> const matrix{{{-5, 30, -45}, {30, -50, 90}, {-45, 90, -125}}};
    isotropic<double, 3> const map{5, 2, -3, r};
    for (int i = 0; i < 3; ++i)
    {
      vec<double, 3> q{};
      q[i] = 1;
      vec<double, 3> const expected = matrix.to(q);
      EXPECT_THAT(map.to(q).data, ElementsAre(expected[0], expected[1], expected[2]));
    }
  }

  TEST(structured_maps, go_back_as_the_map_of_minus_r_goes)
  {
    auto const same = [](auto const& a, auto const& b)
    {
      return ::testing::Value(a.data, ::testing::ElementsAreArray(b.data));
    };
    EXPECT_TRUE(
        same(radial<double, 3>{2, r}.back(charge), radial<double, 3>{2, minus_r}.to(charge)));
    EXPECT_TRUE(same(value_radial<double, 3>{2, -3, r}.back(charge),
                     value_radial<double, 3>{2, -3, minus_r}.to(charge)));
    vec<double, 3> const q{7, 11, -13};
    EXPECT_TRUE(same(isotropic<double, 3>{5, 2, -3, r}.back(q),
                     isotropic<double, 3>{5, 2, -3, minus_r}.to(q)));
  }
}
