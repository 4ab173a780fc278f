#include "search/search_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

// Where rounding decides: at the cutoff, on the borders of cells, and far from the origin.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class search_rounding : public ::testing::Test
    {};
    TYPED_TEST_SUITE(search_rounding, search_kinds);
  }

  TYPED_TEST(search_rounding, decides_at_the_cutoff_to_the_bit)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (double const origin : {0., 0.1, -7., 1000.})
      for (double const cutoff : {1., 0.1, 0.03, 1. / 3})
      {
        SCOPED_TRACE(testing::Message() << origin << ", cutoff " << cutoff);
        // a chain of points, each a cutoff from the one before, and a few ulp nearer or farther
        search_case<T, dim> search{.cutoff = cutoff};
        for (int k = 0; k < 12; ++k)
          for (int ulps = -2; ulps <= 2; ++ulps)
            for (int a = 0; a < dim; ++a)
            {
              T value = static_cast<T>(origin + k * cutoff);
              for (int u = 0; u < std::abs(ulps); ++u)
                value = std::nextafter(value, ulps < 0 ? T(-1e30) : T(1e30));
              std::array<double, dim> x;
              x.fill(origin);
              x[a] = double(value);
              search.x.push_back(x);
            }
        if (cutoff == 0.1) search.options.cells_per_cutoff.fill(3);
        EXPECT_GT(check_search(search), 0u);
      }
  }

  TYPED_TEST(search_rounding, decides_at_the_cutoff_of_a_lattice)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    // spacings of 2^-k: distances of whole spacings are exact, and not in
    std::size_t const side = dim == 3 ? 9 : 33;
    search_case<T, dim> search{
        .x = make_points<T, dim>(cloud::grid, dim == 3 ? side * side * side : side * side)};
    T const spacing = T(1) / T(side - 1);
    for (T const cutoff : {spacing, 2 * spacing, std::nextafter(spacing, T(1))})
    {
      search.cutoff = double(cutoff);
      EXPECT_EQ(check_search(search) == 0, cutoff == spacing);
    }
    // and thirds of them, whose distances round
    std::array<double, dim> by;
    by.fill(1. / 3);
    stretch<T, dim>(search.x, by);
    for (double const times : {1., std::sqrt(2.)})
    {
      search.cutoff = double(spacing) / 3 * times;
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(search_rounding, gives_displacements_of_zero_one_sign)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    constexpr T coordinates[] = {T(0.5), T(0), -T(0), T(0.25)};
    search_case<T, dim> search{.cutoff = 0.3, .how_many = outputs::every};
    for (int i = 0; i < (dim == 2 ? 32 : 128); ++i)
      for (int a = 0; a < dim; ++a)
        search.x.columns[a].push_back(coordinates[(5 * i + 3) >> 2 * a & 3]);
    // open axes, of cells, and of one cell
    for (double const period : {0., 2., 0.7})
    {
      SCOPED_TRACE(period);
      search.options.period.fill(T(period));
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(search_rounding, takes_points_on_cell_borders)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 1500, 5), .cutoff = 0.15};
    detail::points_along<dim> bounds;
    bounds.upper.fill(1);
    bounds.largest = 1;
    auto const grid = detail::make_cell_grid<T, dim>(bounds, T(search.cutoff), {});
    // onto borders, or one step before or behind them; the first and the last point span the grid
    for (int a = 0; a < dim; ++a)
    {
      for (std::size_t i = 0; i < search.x.size(); ++i)
      {
        T& x = search.x.columns[a][i];
        x = static_cast<T>(std::round(double(x) * grid.inverse_width[a]) / grid.inverse_width[a]);
        if (i % 3 == 1) x = std::nextafter(x, T(-1));
        if (i % 3 == 2) x = std::nextafter(x, T(2));
        x = std::clamp(x, T(0), T(1));
      }
      search.x.columns[a].front() = 0;
      search.x.columns[a].back() = 1;
    }
    EXPECT_EQ(search.expected().grid.inverse_width, grid.inverse_width);
    EXPECT_GT(check_search(search), 0u);
  }

  TYPED_TEST(search_rounding, finds_pairs_in_sparse_clouds_of_huge_extent)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (double const extent : {1e4, 1e6, 1e9, 1e14})
    {
      SCOPED_TRACE(testing::Message() << "extent " << extent);
      search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 900), .cutoff = 0.5};
      std::array<double, dim> by;
      by.fill(extent);
      stretch<T, dim>(search.x, by);
      // a companion for every third, and a clump
      for (std::size_t i = 0; i + 2 < search.x.size(); i += 3)
        for (int a = 0; a < dim; ++a)
          search.x.columns[a][i + 1] = static_cast<T>(double(search.x.columns[a][i]) + 0.3 * a);
      auto const clump = make_points<T, dim>(cloud::uniform, 200, 7);
      for (int a = 0; a < dim; ++a)
        search.x.columns[a].insert(search.x.columns[a].end(), clump.columns[a].begin(),
                                   clump.columns[a].end());
      if (extent == 1e6) search.how_many = outputs::every;
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(search_rounding, takes_negative_coordinates_far_from_the_origin)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 1500), .cutoff = 0.1};
    for (auto& column : search.x.columns)
      for (T& x : column) x = static_cast<T>(double(x) - 1e3);
    EXPECT_GT(check_search(search), 0u);
  }
}
