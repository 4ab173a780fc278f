#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nearfield::test
{
  TEST(cell_list, refuses_bad_input_by_name)
  {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const x = make_points<double, 3>(cloud::uniform, 10);
    auto const with = [&](double cutoff, cell_list_options<double, 3> const& options = {})
    {
      return [&x, cutoff, options]
      {
        cell_list<double, 3>(x.view(), cutoff, options);
      };
    };
    for (double const cutoff : {0., -1., nan, inf, -inf})
      EXPECT_THAT(with(cutoff), complains_of("cell_list: the cutoff is", "positive"));
    EXPECT_THAT(with(1e-200), complains_of("square of the cutoff", "units"));
    EXPECT_THAT(with(1e200), complains_of("square of the cutoff", "units"));
    EXPECT_THAT((
                    [&]
                    {
                      auto const y = make_points<float, 2>(cloud::uniform, 3);
                      cell_list<float, 2>(y.view(), 1e39);
                    }),
                complains_of("cutoff is inf"));
    EXPECT_THAT(with(0.1, {.cells_per_cutoff = {1, -2, 1}}),
                complains_of("cells_per_cutoff is -2 on axis 1"));
    EXPECT_THAT(with(0.1, {.cells_per_cutoff = {1, 1, 1 << 30}}),
                complains_of("cells_per_cutoff is 1073741824 on axis 2", "1 to 8"));
    EXPECT_THAT(with(0.1, {.cells_per_cutoff = {9, 1, 1}}), complains_of("is 9 on axis 0"));
    EXPECT_NO_THROW(with(0.1, {.cells_per_cutoff = {8, 8, 8}})());
    EXPECT_THAT(with(0.1, {.period = {0, -1, 0}}), complains_of("period is -1 on axis 1"));
    EXPECT_THAT(with(0.1, {.period = {nan, 0, 0}}), complains_of("period is", "nan on axis 0"));
    auto const cube = cell<3>::of_lengths(std::array{1., 1., 1.});
    EXPECT_THAT(with(0.1, {.period = {0, 0, 1}, .cell = cube}),
                complains_of("both .cell and .period", "give one"));
    EXPECT_THAT(with(0.1, {.cell = {cube.vectors, {true, true, true}, {0, nan, 0}}}),
                complains_of("origin is nan on axis 1"));
    EXPECT_THAT(with(0.1, {.cell = {{{{1, 0, 0}, {2, 0, 0}, {}}}, {true, true, false}}}),
                complains_of("depends on the others"));
    // some 2 R / L images along an axis
    EXPECT_THAT(
        with(1, {.period = {0, 0, 1e-5}}),
        complains_of("box is 1e-05 thick along axis 2", "more than 65535 images", "cutoff 1;"));
    EXPECT_NO_THROW(with(1, {.period = {0, 0, 1e-3}})());
    EXPECT_THAT(with(1, {.period = {0.05, 0.05, 0.05}}), complains_of("more than 65535 images"));

    auto const at = [&](int axis, double value, cell_list_options<double, 3> const& options = {})
    {
      return [&x, axis, value, options]
      {
        auto moved = x;
        moved.columns[axis][4] = value;
        cell_list<double, 3>(moved.view(), 0.1, options);
      };
    };
    EXPECT_THAT(at(1, nan), complains_of("coordinate 1 of point 4 of the points is nan"));
    EXPECT_THAT(at(2, -inf), complains_of("coordinate 2 of point 4 of the points is -inf"));
    cell_list_options<double, 3> const box{.period = {1, 1, 1}};
    EXPECT_THAT(at(1, nan, box), complains_of("coordinate 1 of point 4 of the points is nan"));
    EXPECT_THAT(at(0, 0x1p30, box),
                complains_of("point 4 of the points, (1073741824, ", "more than 2^29 boxes"));
    EXPECT_THAT((
                    [&]
                    {
                      auto moved = x;
                      moved.columns[0][3] = inf;
                      cell_list<double, 3>(moved.view(), x.view(), 0.1);
                    }),
                complains_of("point 3 of the queries"));
    EXPECT_THAT((
                    [&]
                    {
                      auto moved = x;
                      moved.columns[0][0] = 1.7e308;
                      moved.columns[0][1] = -1.7e308;
                      cell_list<double, 3>(moved.view(), 0.1);
                    }),
                complains_of("axis 0", "exceeds the largest double"));
    soa<double const, 3> const null({nullptr, nullptr, nullptr}, 5);
    EXPECT_THAT([&] { cell_list(null, 0.1); }, complains_of("column 0", "null"));
    EXPECT_THAT([&] { cell_list(x.view(), null, 0.1); },
                complains_of("column 0 of the points is null"));
    soa<double const, 3> const long_one(
        {x.columns[0].data(), x.columns[1].data(), x.columns[2].data()}, 0xffffffffu);
    EXPECT_THAT([&] { cell_list(long_one, 0.1); }, complains_of("split"));
  }
}
