#include <nearfield/tree/cell_list.hpp>

#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The key of a point by the documented formula.
    template <class T, int Dim>
    std::uint64_t key_of(detail::cell_grid<T, Dim> const& grid,
                         std::type_identity_t<std::array<T, Dim>> const& x)
    {
      std::uint64_t key = 0;
      for (int a = 0; a < Dim; ++a)
      {
        nearfield::detail::axis_piece piece{0, grid.lower[a], 0};
        for (nearfield::detail::axis_piece const& p :
             std::span(grid.pieces[a].pieces, grid.pieces[a].n))
          if (double(x[a]) >= p.first) piece = p;
        double const place = piece.offset + (double(x[a]) - piece.origin) * grid.inverse_width[a];
        double const cell = std::clamp(std::floor(place), 0., double(grid.cells[a]) - 1);
        key = key * grid.cells[a] + static_cast<std::uint64_t>(cell);
      }
      return key;
    }

    template <class T, int Dim>
    std::vector<index_type> expected_order(detail::cell_grid<T, Dim> const& grid,
                                           points<T, Dim> const& x)
    {
      std::vector<index_type> order(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) order[i] = static_cast<index_type>(i);
      std::ranges::stable_sort(order, {}, [&](index_type i) { return key_of(grid, x[i]); });
      return order;
    }

    /// Boxes are the occupied cells, in order, and the coordinates are sorted with the points.
    template <class T, int Dim>
    void expect_boxes(cell_list<T, Dim> const& cells, points<T, Dim> const& x)
    {
      auto const order = expected_order(cells.grid(), x);
      ASSERT_TRUE(std::ranges::equal(cells.target_order(), order));
      boxes const found = cells.targets();
      std::set<std::uint64_t> keys;
      for (std::size_t i = 0; i < x.size(); ++i) keys.insert(key_of(cells.grid(), x[i]));
      ASSERT_EQ(found.size(), keys.size());
      auto key = keys.begin();
      for (index_type b = 0; b < found.size(); ++b, ++key)
        for (index_type p = found.begin(b); p < found.end(b); ++p)
        {
          EXPECT_EQ(key_of(cells.grid(), x[order[p]]), *key);
          for (int a = 0; a < Dim; ++a)
            EXPECT_EQ(cells.target_positions()[a][p], x.columns[a][order[p]]);
        }
    }

    /// Which positions box b meets, by its list, its own included; fails where one comes twice, or where
    /// ranges do not ascend or could be merged.
    template <class T, int Dim>
    std::set<index_type> met_by(cell_list<T, Dim> const& cells, index_type b)
    {
      auto const list = cells.view().full;
      std::set<index_type> met;
      for (index_type p = list.own[b].begin; p < list.own[b].end; ++p) met.insert(p);
      interaction_list::range const* before = nullptr;
      for (interaction_list::range const& range : list.neighbours(b))
      {
        EXPECT_LT(range.begin, range.end);
        if (before)
        {
          EXPECT_LE(before->end, range.begin);
          EXPECT_FALSE(before->end == range.begin && before->shift == range.shift);
        }
        before = &range;
        for (index_type p = range.begin; p < range.end; ++p) EXPECT_TRUE(met.insert(p).second);
      }
      return met;
    }

    /// The cells of two points are in reach, through some image.
    template <class T, int Dim>
    bool in_reach(detail::cell_grid<T, Dim> const& grid,
                  std::type_identity_t<std::array<T, Dim>> const& x,
                  std::type_identity_t<std::array<T, Dim>> const& y)
    {
      for (int a = 0; a < Dim; ++a)
      {
        int const n = static_cast<int>(grid.cells[a]);
        int apart = std::abs(int(grid.index(a, x[a])) - int(grid.index(a, y[a])));
        if (grid.axes[a] == nearfield::detail::grid_axis::periodic)
          apart = std::min(apart, n - apart);
        if (apart > grid.reach[a]) return false;
      }
      return true;
    }

    template <class T, int Dim>
    void expect_lists(cell_list<T, Dim> const& cells)
    {
      auto const view = cells.view();
      auto const point = [](soa<T const, Dim> const& columns, index_type p)
      {
        std::array<T, Dim> x;
        for (int a = 0; a < Dim; ++a) x[a] = columns[a][p];
        return x;
      };
      for (index_type b = 0; b < cells.size(); ++b)
      {
        if (view.targets.count(b) == 0)
        {
          EXPECT_TRUE(view.full.neighbours(b).empty());
          continue;
        }
        auto const x = point(view.target_x, view.targets.begin(b));
        std::set<index_type> expected;
        for (index_type p = 0; p < view.source_order.size(); ++p)
          if (in_reach(cells.grid(), x, point(view.source_x, p))) expected.insert(p);
        EXPECT_EQ(met_by(cells, b), expected);
        if (!cells.has_one_set()) continue;
        std::vector<interaction_list::range> after;
        for (interaction_list::range const& range : view.full.neighbours(b))
          if (range.begin >= view.targets.end(b)) after.push_back(range);
        EXPECT_TRUE(std::ranges::equal(view.half.neighbours(b), after));
      }
    }
  }

  TEST(cell_list, sorts_points_by_cell_and_then_by_index)
  {
    for (cloud const shape : all_clouds)
    {
      auto const x = make_points<double, 3>(shape, 400);
      auto const y = make_points<float, 2>(shape, 400);
      expect_boxes(cell_list<double, 3>(x.view(), 0.1), x);
      expect_boxes(cell_list<float, 2>(y.view(), 0.05), y);
      // keys are sorted in place of counted cells
      expect_boxes(cell_list<double, 3>(x.view(), 1e-3), x);
      expect_boxes(cell_list<float, 2>(y.view(), 1e-6), y);
    }
  }

  TEST(cell_list, lists_the_cells_in_reach_once)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 150);
    auto const y = make_points<double, 3>(cloud::plummer, 60, 7);
    auto const plane = make_points<float, 2>(cloud::uniform, 150);
    for (int k = 0; k <= 3; ++k)
      for (int axes = 0; axes < 8; ++axes)
        for (double const cutoff : {0.05, 0.2, 0.3})
        {
          SCOPED_TRACE(testing::Message() << k << " cells, axes " << axes << ", " << cutoff);
          cell_list_options<double, 3> options;
          cell_list_options<float, 2> in_plane;
          options.cells_per_cutoff.fill(k);
          in_plane.cells_per_cutoff.fill(k);
          for (int a = 0; a < 3; ++a)
            if (axes >> a & 1) options.period[a] = 1;
          for (int a = 0; a < 2; ++a)
            if (axes >> a & 1) in_plane.period[a] = 1;
          expect_lists(cell_list<double, 3>(x.view(), cutoff, options));
          expect_lists(cell_list<float, 2>(plane.view(), cutoff, in_plane));
          if (axes % 7 > 0) continue;
          auto wrapped = y;
          for (auto& column : wrapped.columns)
            for (double& value : column) value -= std::floor(value);
          expect_lists(cell_list<double, 3>(wrapped.view(), x.view(), cutoff, options));
        }
  }

  TEST(cell_list, deduces_its_type_from_columns)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 50);
    std::vector<float> a = x.columns[0], b = x.columns[1];
    cell_list const plane{soa{a, b}, 0.1, {.period = {1, 0}}};
    static_assert(std::is_same_v<decltype(plane), cell_list<float, 2> const>);
    EXPECT_EQ(plane.grid().axes[0], nearfield::detail::grid_axis::periodic);
    EXPECT_EQ(plane.grid().axes[1], nearfield::detail::grid_axis::open);
    cell_list const two{x.view(), x.view(), 0.1};
    static_assert(std::is_same_v<decltype(two), cell_list<float, 3> const>);
    EXPECT_FALSE(two.has_one_set());
    EXPECT_EQ(plane.cutoff(), 0.1f);
  }

  TEST(cell_list, takes_memory_for_occupied_cells_only)
  {
    // two clusters at the ends of 10^18 cells
    auto x = make_points<double, 3>(cloud::uniform, 200);
    for (auto& column : x.columns)
      for (std::size_t i = 0; i < 100; ++i) column[i] += 1e6;
    cell_list<double, 3> const cells(x.view(), 0.5);
    EXPECT_LE(cells.size(), 200u);
    EXPECT_LE(cells.view().full.ranges.size(), 200u * 27);
    expect_boxes(cells, x);
    expect_lists(cells);
    // wider than 2^21 cells: gaps are left out, one empty cell for each
    x.columns[0][0] = 1e9;
    cell_list<double, 3> const wide(x.view(), 0.5);
    EXPECT_EQ(wide.grid().pieces[0].n, 3u);
    EXPECT_EQ(wide.grid().cells[0], 2u + 1 + 2 + 1 + 1);
    EXPECT_EQ(wide.grid().pieces[1].n, 0u);
    EXPECT_EQ(wide.grid().inverse_width[0], wide.grid().inverse_width[1]);
    expect_boxes(wide, x);
    expect_lists(wide);
  }

  TEST(cell_list, rebuilds_in_the_memory_that_is_there)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 500);
    auto const y = make_points<double, 3>(cloud::uniform, 400, 8);
    cell_list<double, 3> cells(x.view(), 0.2);
    double const* const column = cells.target_positions()[0];
    cells.rebuild(y.view());
    EXPECT_EQ(cells.target_positions()[0], column);
    EXPECT_EQ(cells.cutoff(), 0.2);
    expect_boxes(cells, y);
    expect_lists(cells);
    cells.rebuild(x.view(), 0.3);
    EXPECT_EQ(cells.target_positions()[0], column);
    EXPECT_EQ(cells.cutoff(), 0.3);
    expect_lists(cells);
    cells.rebuild(x.view(), y.view());
    EXPECT_FALSE(cells.has_one_set());
    expect_lists(cells);
    cells.rebuild(y.view());
    EXPECT_TRUE(cells.has_one_set());
    expect_lists(cells);
  }

  TEST(cell_list, can_be_rebuilt_after_it_was_moved_from)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    cell_list<double, 3> cells(x.view(), 0.2);
    cell_list<double, 3> const other(std::move(cells));
    cells.rebuild(x.view(), 0.3);
    expect_boxes(cells, x);
    expect_lists(cells);
    expect_lists(other);
  }

  TEST(cell_list, stays_as_it_was_where_rebuild_throws)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    auto bad = x;
    bad.columns[1][7] = std::numeric_limits<double>::quiet_NaN();
    cell_list<double, 3> cells(x.view(), 0.2);
    EXPECT_THROW(cells.rebuild(bad.view()), error);
    EXPECT_THROW(cells.rebuild(x.view(), -1), error);
    expect_boxes(cells, x);
    expect_lists(cells);
    EXPECT_EQ(cells.cutoff(), 0.2);
  }

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
    EXPECT_THAT(with(0.51, {.period = {0, 0, 1}}),
                complains_of("period 1 of axis 2", "twice the cutoff 0.51", "at least 1.02",
                             "at most 0.5"));
    EXPECT_NO_THROW(with(0.51, {.period = {0, 0, 1.02}})());
    EXPECT_NO_THROW(with(0.5, {.period = {0, 0, 1}})());

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
    EXPECT_THAT(at(0, 1, box), complains_of("coordinate 0 of point 4", "is 1, outside", "[0, 1)"));
    EXPECT_THAT(at(0, -1e-9, box), complains_of("is -1e-09, outside"));
    EXPECT_NO_THROW(at(0, std::nextafter(1., 0.), box)());
    EXPECT_NO_THROW(at(0, -0., box)());
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

  TEST(cell_list, gives_lists_to_near_field_where_it_has_them)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 60);
    cell_list<double, 3> const nearest(x.view(), 0.45, {.period = {1, 0, 0}});
    EXPECT_EQ(nearest.grid().axes[0], nearfield::detail::grid_axis::minimum_image);
    EXPECT_THAT([&] { (void)nearest.interactions(); },
                complains_of("axis 0", "too few cells", "cells_per_cutoff"));
    EXPECT_THAT([&] { (void)nearest.half_interactions(); }, complains_of("axis 0"));
    // the length that it names is just long enough
    for (int const k : {1, 2, 3})
    {
      cell_list_options<double, 3> options{.cells_per_cutoff = {k, 1, 1}, .period = {1, 0, 0}};
      auto const make_list = [&]
      {
        cell_list<double, 3> const cells(x.view(), 0.49, options);
        (void)cells.interactions();
      };
      std::string message;
      try
      {
        make_list();
      }
      catch (error const& e)
      {
        message = e.what();
      }
      std::string const before = "a period of at least ";
      ASSERT_NE(message.find(before), message.npos) << message;
      double const least = std::stod(message.substr(message.find(before) + before.size()));
      EXPECT_NEAR(least, 0.49 * (2 + 1. / k), 1e-8);
      options.period[0] = least;
      EXPECT_NO_THROW(make_list());
      options.period[0] = least * (1 - 1e-15);
      EXPECT_ANY_THROW(make_list());
    }
    cell_list<double, 3> const two(x.view(), x.view(), 0.1);
    EXPECT_THAT([&] { (void)two.half_interactions(); }, complains_of("two sets"));
    EXPECT_EQ(two.interactions().own.size(), two.size());
  }
}
