#include <nearfield/core/soa.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::Not;
  using ::testing::ThrowsMessage;

  TEST(soa, views_the_columns_it_is_given)
  {
    std::vector<double> x{1, 2, 3}, y{4, 5, 6};
    soa const view{x, y};
    static_assert(std::is_same_v<decltype(view), soa<double, 2> const>);
    EXPECT_EQ(view.size(), 3);
    EXPECT_EQ(view[0], x.data());
    EXPECT_EQ(view[1], y.data());
    EXPECT_EQ(view.data()[1], y.data());
    view[1][2] = 7;
    EXPECT_EQ(y[2], 7);
  }

  TEST(soa, takes_any_contiguous_columns)
  {
    std::vector<float> vector{1, 2};
    std::array<float, 2> array{3, 4};
    float plain[] = {5, 6};
    soa const view{vector, array, plain};
    static_assert(std::is_same_v<decltype(view), soa<float, 3> const>);
    EXPECT_EQ(view[2][1], 6);

    soa const part{std::span(vector).first(1)};
    EXPECT_EQ(part.size(), 1);
  }

  TEST(soa, is_read_only_where_its_columns_are)
  {
    std::vector<double> x{1};
    std::vector<double> const y{2};
    static_assert(std::is_same_v<decltype(soa{y}), soa<double const, 1>>);
    static_assert(std::is_same_v<decltype(soa{x, y}), soa<double const, 2>>);
    static_assert(std::is_same_v<decltype(soa{y, x}), soa<double const, 2>>);
    soa<double const, 1> const view = soa{x};
    EXPECT_EQ(view[0], x.data());
    EXPECT_EQ(view.size(), 1);
    static_assert(!std::is_convertible_v<soa<double const, 1>, soa<double, 1>>);
  }

  TEST(soa, may_have_as_many_columns_as_only_the_run_tells)
  {
    std::vector<double> x{1, 2}, y{3, 4};
    std::vector<double*> const columns{x.data(), y.data(), x.data()};
    soa<double, run_time_columns> const view(columns, 2);
    EXPECT_EQ(view.width(), 3);
    EXPECT_EQ(view.size(), 2);
    EXPECT_EQ(view[1], y.data());
    soa<double const, run_time_columns> const read_only = view;
    EXPECT_EQ(read_only.width(), 3);
    EXPECT_EQ(read_only.data()[2], x.data());
    static_assert(
        !std::is_convertible_v<soa<double const, run_time_columns>, soa<double, run_time_columns>>);
    EXPECT_EQ((soa<double, run_time_columns>().width()), 0);
  }

  TEST(soa, is_empty_by_default)
  {
    soa<double, 3> const view;
    EXPECT_EQ(view.size(), 0);
    EXPECT_EQ(view[2], nullptr);
  }

  TEST(soa, refuses_columns_of_different_length)
  {
    std::vector<double> x(3), y(3), z(2);
    auto const make = [&]
    {
      return soa(x, y, z);
    };
    EXPECT_THAT(make, ThrowsMessage<error>(AllOf(HasSubstr("column 2 has 2 values"),
                                                 HasSubstr("column 0 has 3"),
                                                 HasSubstr("equal length"), Not(HasSubstr("\n")))));
  }

  TEST(strided, reads_points_that_are_interleaved)
  {
    std::vector<double> xyz{0, 1, 2, 10, 11, 12};
    auto const view = interleaved<3>(xyz);
    static_assert(std::is_same_v<decltype(view), strided<double, 3> const>);
    EXPECT_EQ(view.size(), 2);
    EXPECT_EQ(view.stride(), 3);
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_EQ(view[c][0], c);
      EXPECT_EQ(view[c][1], 10 + c);
      EXPECT_EQ(view.columns()[c], xyz.data() + c);
    }
    view[2][1] = 7;
    EXPECT_EQ(xyz[5], 7);
    EXPECT_EQ(interleaved<3>(std::span(xyz).first(0)).size(), 0);
    static_assert(std::is_same_v<decltype(interleaved<2>(std::span<float const>())),
                                 strided<float const, 2>>);
  }

  TEST(strided, reads_columns_of_a_matrix)
  {
    // 2 x 4 values by row, and the same by column
    int const rows[] = {0, 1, 2, 3, 10, 11, 12, 13}, columns[] = {0, 10, 1, 11, 2, 12, 3, 13};
    auto const by_row = matrix_columns<2>(rows + 1, 2, 4, 1);
    auto const by_column = matrix_columns<2>(columns + 2, 2, 1, 2);
    for (int c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < 2; ++i)
      {
        EXPECT_EQ(by_row[c][i], 10 * static_cast<int>(i) + c + 1);
        EXPECT_EQ(by_column[c][i], by_row[c][i]);
      }
  }

  TEST(strided, is_read_only_where_its_values_are)
  {
    std::vector<double> xy{1, 2};
    strided<double const, 2> const view = interleaved<2>(xy);
    EXPECT_EQ(view[1][0], 2);
    static_assert(!std::is_convertible_v<strided<double const, 2>, strided<double, 2>>);
  }

  TEST(strided, takes_columns_but_is_none)
  {
    std::vector<double> x{1, 2}, y{3, 4};
    strided<double const, 2> const view = soa{x, y};
    EXPECT_EQ(view.stride(), 1);
    EXPECT_EQ(view[1][1], 4);
    // what takes a soa would ignore the stride
    static_assert(!std::is_convertible_v<strided<double, 2>, soa<double, 2>>);
    static_assert(!std::is_constructible_v<soa<double const, 2>, strided<double, 2>>);
    static_assert(!std::is_convertible_v<soa<double, 2>, strided<double, 3>>);
    static_assert(!std::is_convertible_v<soa<float, 2>, strided<double const, 2>>);
  }

  TEST(strided, refuses_strides_and_sizes_that_make_no_points)
  {
    std::vector<double> const x(7);
    auto const wrong_stride = [&]
    {
      return strided(soa{x}, 0);
    };
    EXPECT_THAT(wrong_stride,
                ThrowsMessage<error>(AllOf(HasSubstr("stride is 0"), HasSubstr("at least 1"))));
    auto const backwards = [&]
    {
      return matrix_columns<2>(x.data(), 2, -3, 1);
    };
    EXPECT_THAT(backwards, ThrowsMessage<error>(HasSubstr("stride is -3")));
    auto const wrong_size = [&]
    {
      return interleaved<3>(x);
    };
    EXPECT_THAT(wrong_size, ThrowsMessage<error>(
                                AllOf(HasSubstr("found 7 values"), HasSubstr("3 for each point"))));
  }
}
