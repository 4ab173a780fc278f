#include <nearfield/tree/cell_grid.hpp>

#include "points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace nearfield::test
{
  namespace
  {
    /// Of two points on axis 0, by the definition of a pair.
    template <class T>
    bool is_pair(detail::cell_grid<T, 2> const& grid, T x, T y)
    {
      T d = x - y;
      if (T const period = grid.period[0]; period > 0) d -= period * std::round(d / period);
      return d * d < grid.cutoff_squared();
    }

    template <class T>
    bool in_reach(detail::cell_grid<T, 2> const& grid, T x, T y)
    {
      int const n = static_cast<int>(grid.cells[0]);
      int apart = std::abs(static_cast<int>(grid.index(0, x)) - static_cast<int>(grid.index(0, y)));
      if (grid.axes[0] != nearfield::detail::grid_axis::open) apart = std::min(apart, n - apart);
      return apart <= grid.reach[0];
    }

    /// How many pairs the grid loses, of those that are barely in: y is about a cutoff below x, on a periodic
    /// axis beyond its end.
    template <class T>
    int lost_pairs(int cells_per_cutoff, bool is_periodic, double longest)
    {
      random_numbers random(7);
      int lost = 0, found = 0;
      for (int box = 0; box < 4000; ++box)
      {
        T const cutoff = static_cast<T>(0.5 + random.uniform());
        T const length = static_cast<T>(double(cutoff) * (10 + (longest - 10) * random.uniform()));
        cell_list_options<T, 2> options;
        options.cells_per_cutoff = {cells_per_cutoff, 1};
        if (is_periodic) options.period = {length, 0};
        auto const grid = detail::make_cell_grid<T, 2>({0, 0}, {length, 0}, cutoff, options);
        double const x0 = is_periodic ? random.uniform() * cutoff
                                      : cutoff + random.uniform() * (double(length) - cutoff);
        T const x = static_cast<T>(x0);
        T y = static_cast<T>(x0 - cutoff + (is_periodic ? double(length) : 0));
        for (int step = 0; step < 8; ++step) y = std::nextafter(y, T(0));
        for (int step = 0; step < 16; ++step, y = std::nextafter(y, length))
        {
          if (!(y < length) || !is_pair(grid, x, y)) continue;
          ++found;
          lost += !in_reach(grid, x, y);
        }
      }
      EXPECT_GT(found, 4000);
      return lost;
    }
  }

  TEST(cell_grid, loses_no_pair_to_rounding)
  {
    for (int k = 1; k <= 6; ++k)
      for (double const longest : {20., 100., 400., 2000., 20000.})
      {
        SCOPED_TRACE(testing::Message() << k << " cells, " << longest << " cutoffs");
        EXPECT_EQ(lost_pairs<float>(k, true, longest), 0);
        EXPECT_EQ(lost_pairs<double>(k, true, longest), 0);
        EXPECT_EQ(lost_pairs<float>(k, false, longest), 0);
        EXPECT_EQ(lost_pairs<double>(k, false, longest), 0);
      }
  }

  TEST(cell_grid, knows_how_far_wide_or_few_cells_have_to_look)
  {
    cell_list_options<double, 2> options;
    options.cells_per_cutoff = {5, 5};
    // fewer cells than a cutoff spans; and cells of 10 cutoffs, as many as there may be
    auto const grid =
        detail::make_cell_grid<double, 2>({0, 0}, {0.5, 10. * max_cells_per_axis}, 1, options);
    EXPECT_EQ(grid.cells[0], 3u);
    EXPECT_EQ(grid.reach[0], 2);
    EXPECT_EQ(grid.cells[1], max_cells_per_axis);
    EXPECT_EQ(grid.reach[1], 1);
  }
}
