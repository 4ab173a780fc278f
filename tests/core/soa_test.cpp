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
}
