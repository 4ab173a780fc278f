#include "tree/src/images.hpp"

#include <nearfield/tree/cell_grid.hpp>

#include "image_pairs.hpp"
#include "random_cells.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

namespace nearfield::test
{
  namespace
  {
    /// How many pairs the grid loses, of those that are barely in: y is about a cutoff below x, or an image of it is.
    template <class T>
    int lost_pairs(int cells_per_cutoff, bool is_periodic, double shortest, double longest)
    {
      random_numbers random(7);
      int lost = 0, found = 0;
      for (int box = 0; box < 4000; ++box)
      {
        T const cutoff = static_cast<T>(0.5 + random.uniform());
        T const length = static_cast<T>(double(cutoff) * random.uniform(shortest, longest));
        cell_list_options<T, 2> options{.closed = random.below(2) == 0};
        options.cells_per_cutoff = {cells_per_cutoff, 1};
        if (is_periodic) options.period = {length, 0};
        auto const grid =
            detail::make_cell_grid<T, 2>({{0, 0}, {double(length), 0}}, cutoff, options);
        int const n = static_cast<int>(grid.cells[0]), most = grid.most_images(0);
        double const x0 = is_periodic ? random.uniform() * double(length)
                                      : cutoff + random.uniform() * (double(length) - cutoff);
        T const x = static_cast<T>(x0);
        double const turns = is_periodic ? std::floor((x0 - cutoff) / double(length)) : 0;
        T y = static_cast<T>(x0 - cutoff - turns * double(length));
        for (int step = 0; step < 8; ++step) y = std::nextafter(y, T(0));
        for (int step = 0; step < 16; ++step, y = std::nextafter(y, length))
          for (int image = -most - 1; image <= most + 1; ++image)
          {
            // by the definition of a pair
            T const d = (x - y) - static_cast<T>(image * double(length));
            if (!(x < length && y < length && d * d < grid.cutoff_squared)) continue;
            if (!is_periodic && image != 0) continue;
            ++found;
            int const from = static_cast<int>(grid.index(0, {x, 0}));
            int const to = static_cast<int>(grid.index(0, {y, 0})) + image * n;
            lost += std::abs(to - from) > grid.reach[0];
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
        EXPECT_EQ(lost_pairs<float>(k, true, 10, longest), 0);
        EXPECT_EQ(lost_pairs<double>(k, true, 10, longest), 0);
        EXPECT_EQ(lost_pairs<float>(k, false, 10, longest), 0);
        EXPECT_EQ(lost_pairs<double>(k, false, 10, longest), 0);
      }
  }

  TEST(cell_grid, loses_no_pair_of_several_images)
  {
    for (int k = 1; k <= 6; ++k)
    {
      SCOPED_TRACE(testing::Message() << k << " cells");
      EXPECT_EQ(lost_pairs<float>(k, true, 0.1, 4), 0);
      EXPECT_EQ(lost_pairs<double>(k, true, 0.1, 4), 0);
    }
  }

  template <class T, int Dim>
  void expect_pairs_in_reach()
  {
    random_numbers random(8);
    std::size_t n_pairs = 0, n_far = 0;
    for (int k = 0; k < 400; ++k)
    {
      SCOPED_TRACE(k);
      cell_list_options<T, Dim> options{.cell = random_cell<Dim>(random, 1),
                                        .closed = random.below(2) == 0};
      for (int& n : options.cells_per_cutoff) n = static_cast<int>(random.below(5));
      detail::cell_frame<Dim> const frame(options.cell);
      auto const x = points_around<T, Dim>(random, frame, 1, 1 + random.below(7));
      cell_list<T, Dim> const cells(x.view(), 1, options);
      auto const& grid = cells.grid();
      image_definition<T, Dim> const pairs(options.cell, x, x, 1, options.closed);
      for (auto const& [i, j, s] : pairs.full())
      {
        ++n_pairs;
        auto const moved = frame.shift(pairs.of_reduced(i, j, s));
        for (int a = 0; a < Dim; ++a)
        {
          int image = 0;
          if (frame.periodic[a])
          {
            double along = 0;
            for (int b = 0; b < Dim; ++b) along += moved[b] * frame.normals[a][b];
            image = static_cast<int>(std::round(along / frame.thickness[a]));
          }
          int const from = static_cast<int>(grid.index(a, pairs.target(i).at));
          int const to = static_cast<int>(grid.index(a, pairs.target(j).at));
          EXPECT_LE(std::abs(to + image * static_cast<int>(grid.cells[a]) - from), grid.reach[a]);
          n_far += std::abs(image) > 1;
        }
      }
    }
    EXPECT_GT(n_pairs, 20000u);
    EXPECT_GT(n_far, n_pairs / 100);
  }
  TEST(cell_grid, loses_no_pair_of_oblique_boxes)
  {
    expect_pairs_in_reach<double, 3>();
    expect_pairs_in_reach<float, 3>();
    expect_pairs_in_reach<double, 2>();
    expect_pairs_in_reach<float, 2>();
  }

  TEST(cell_grid, knows_how_far_wide_or_few_cells_have_to_look)
  {
    cell_list_options<double, 2> options;
    options.cells_per_cutoff = {5, 5};
    // fewer cells than a cutoff spans; and cells of 10 cutoffs, as many as there may be
    auto const grid =
        detail::make_cell_grid<double, 2>({{0, 0}, {0.5, 10. * max_cells_per_axis}}, 1, options);
    EXPECT_EQ(grid.cells[0], 3u);
    EXPECT_EQ(grid.reach[0], 2);
    EXPECT_EQ(grid.cells[1], max_cells_per_axis);
    EXPECT_EQ(grid.reach[1], 1);
    // boxes of fewer cells than a cutoff spans: 4 of them, and one of a hundredth of the cutoff
    options.period = {0.85, 0.01};
    auto const small = detail::make_cell_grid<double, 2>({}, 1, options);
    EXPECT_EQ(small.cells[0], 4u);
    EXPECT_EQ(small.reach[0], 5);
    EXPECT_EQ(small.most_images(0), 2);
    EXPECT_EQ(small.cells[1], 1u);
    EXPECT_EQ(small.reach[1], 101); // 100, and what is rounded
  }

  TEST(cell_grid, has_three_cells_a_cutoff_where_two_reach_further)
  {
    for (auto const& [length, n, k] :
         {std::tuple(1.6, 3u, 2), {1.7, 5u, 3}, {1.95, 5u, 3}, {2.1, 4u, 2}})
    {
      cell_list_options<double, 2> options{.period = {length, length}};
      auto const grid = detail::make_cell_grid<double, 2>({}, 1, options);
      EXPECT_EQ(grid.cells[0], static_cast<unsigned>(length)); // only along the last axis
      EXPECT_EQ(grid.cells[1], n);
      EXPECT_EQ(grid.reach[1], k);
      options.cells_per_cutoff[1] = 2; // as asked for
      EXPECT_EQ((detail::make_cell_grid<double, 2>({}, 1, options).reach[1]), 2);
    }
  }

  TEST(cell_grid, counts_pairs_at_the_cutoff_in_closed_lists)
  {
    cell_list_options<float, 2> options;
    EXPECT_EQ((detail::make_cell_grid<float, 2>({}, 0.1f, options).cutoff_squared), 0.1f * 0.1f);
    options.closed = true;
    EXPECT_EQ((detail::make_cell_grid<float, 2>({}, 0.1f, options).cutoff_squared),
              std::nextafter(0.1f * 0.1f, 1.f));
  }

  namespace
  {
    /// Pairs in reach of each other for a sheared box and the largest cutoff that still has n cells along an axis: i at
    /// the border of a cell, j a cutoff away along the normal, in each image.
    template <class T>
    void expect_tight_pairs_in_reach(random_numbers& random, double shear, int n)
    {
      constexpr double eps = std::numeric_limits<T>::epsilon();
      std::array const first{1 + random.uniform(), random.uniform()};
      double const turns = std::floor(shear * (1 + random.uniform()));
      cell<2> const box{.vectors = {{first,
                                     {turns * first[0] + random.uniform() - .5,
                                      turns * first[1] + 1 + random.uniform()}}},
                        .periodic = {true, true}};
      detail::cell_frame<2> const frame(box);
      auto const axis = static_cast<int>(random.below(2));
      detail::points_along<2> along;
      for (auto const& v : frame.reduced) along.largest += std::abs(v[0]) + std::abs(v[1]);
      along.moved = true;
      cell_list_options<T, 2> const options{.cells_per_cutoff = {1, 1}, .cell = box};
      auto const grid_of = [&](T cutoff)
      {
        return detail::make_cell_grid(along, cutoff, options, frame);
      };
      T fits = T(frame.thickness[axis] / n * (1 - 1e-3)),
        is_too_long = T(frame.thickness[axis] / n);
      for (int step = 0; step < 70; ++step)
      {
        T const middle = fits + (is_too_long - fits) / 2;
        (static_cast<int>(grid_of(middle).cells[axis]) >= n ? fits : is_too_long) = middle;
      }
      auto const grid = grid_of(fits);
      double const cutoff = fits, width = 1 / grid.inverse_width[axis];
      auto const images = detail::numbers_of(grid);
      std::vector<std::array<double, 3>> shifts;
      std::vector<detail::image_counters<2>> counters;
      detail::make_images(frame, images, shifts, counters);
      for (std::size_t s = 0; s < shifts.size(); ++s)
      {
        auto const cells = images.cells_of(static_cast<std::uint16_t>(s));
        double const up = cells[axis] != 0 ? cells[axis] : random.below(2) == 0 ? 1 : -1;
        // through the border of the box, or from a cell to the next one but one
        double place = up > 0 ? n * width : 0;
        if (cells[axis] == 0) place = static_cast<double>(1 + random.below(n - 2)) * width;
        double const other = random.uniform() * frame.thickness[1 - axis];
        std::array<T, 2> x, y;
        for (int b = 0; b < 2; ++b)
        {
          x[b] = T((place / frame.thickness[axis] * frame.reduced[axis][b] +
                    other / frame.thickness[1 - axis] * frame.reduced[1 - axis][b]) *
                   (1 + (random.uniform() - .5) * 4 * eps));
          y[b] = T(double(x[b]) - shifts[s][b] +
                   up * frame.normals[axis][b] * cutoff * (1 + (random.uniform() - .7) * 4 * eps));
        }
        bool in_box = true;
        for (auto const& point : {x, y})
          for (int a = 0; a < 2; ++a)
          {
            double const rounding = eps * along.largest / 2, at = grid.along(a, point);
            in_box &= at >= -rounding && at <= frame.thickness[a] + rounding;
          }
        T const dx = (x[0] - y[0]) - T(shifts[s][0]), dy = (x[1] - y[1]) - T(shifts[s][1]);
        if (!in_box || !(dx * dx + dy * dy < grid.cutoff_squared)) continue;
        for (int a = 0; a < 2; ++a)
        {
          auto const apart = std::int64_t(grid.index(a, y)) +
                             std::int64_t(cells[a]) * grid.cells[a] -
                             std::int64_t(grid.index(a, x));
          EXPECT_LE(std::abs(apart), grid.reach[a]) << "shear " << shear << ", " << n << " cells";
        }
      }
    }
  }

  // Without the slack for shears one pair in a hundred is lost at 1e7.
  TEST(cell_grid, loses_no_pair_of_a_sheared_box)
  {
    random_numbers random(7);
    for (double const shear : {0., 3., 1e5, 1e7})
      for (int const n : {3, 5, 8, 400})
        for (int k = 0; k < 150; ++k)
        {
          expect_tight_pairs_in_reach<double>(random, shear, n);
          expect_tight_pairs_in_reach<float>(random, shear, n);
        }
  }
}
