#include "search/search_case.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

// Points far from all others, which would make cells so wide that all others are in one.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class stray_points : public ::testing::Test
    {};
    TYPED_TEST_SUITE(stray_points, search_kinds);

    template <class T, int Dim>
    struct stray_case
    {
      std::string name;
      std::vector<std::array<double, Dim>> strays;
      double scale = 1; ///< of the other points
    };

    template <class T, int Dim>
    std::array<double, Dim> at(double x)
    {
      std::array<double, Dim> point;
      point.fill(x);
      return point;
    }

    template <class T, int Dim>
    std::vector<stray_case<T, Dim>> stray_cases()
    {
      constexpr double huge = sizeof(T) == 4 ? 1e38 : 1e300;
      std::vector<stray_case<T, Dim>> all{{"one below", {at<T, Dim>(-1e9)}},
                                          {"one above", {at<T, Dim>(3e8)}},
                                          {"both sides", {at<T, Dim>(-1e9), at<T, Dim>(1e9)}},
                                          {"huge", {at<T, Dim>(huge), at<T, Dim>(-huge / 2)}},
                                          {"one axis", {at<T, Dim>(0.5)}},
                                          {"many scales", {}},
                                          {"two strays that meet", {}}};
      all[4].strays[0][1] = -1e9;
      for (double x = 1e7; x < huge / 100; x *= 1e3)
      {
        all[5].strays.push_back(at<T, Dim>(x));
        all[5].strays.push_back(at<T, Dim>(-x / 3));
      }
      T const far = T(1e7);
      T const next = std::nextafter(far, std::numeric_limits<T>::infinity());
      all[6] = {"two strays that meet",
                {at<T, Dim>(far), at<T, Dim>(next), at<T, Dim>(-double(far))},
                1000 * double(next - far)};
      return all;
    }

    /// The largest number of points in a cell.
    template <class T, int Dim>
    index_type crowd(search_case<T, Dim> const& search)
    {
      cell_list<T, Dim> const cells =
          search.one_set
              ? cell_list<T, Dim>(search.x.view(), search.cutoff, search.options)
              : cell_list<T, Dim>(search.x.view(), search.y.view(), search.cutoff, search.options);
      index_type most = 0;
      for (index_type b = 0; b < cells.size(); ++b)
        most = std::max({most, cells.targets().count(b), cells.sources().count(b)});
      return most;
    }
  }

  TYPED_TEST(stray_points, leave_the_cells_of_all_others_small)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (auto const& [name, strays, scale] : stray_cases<T, dim>())
    {
      SCOPED_TRACE(name);
      search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 1000),
                                 .cutoff = 0.1 * scale};
      std::array<double, dim> by;
      by.fill(scale);
      stretch<T, dim>(search.x, by);
      index_type const before = crowd(search);
      for (auto const& stray : strays) search.x.push_back(stray);
      EXPECT_LE(crowd(search), 2 * before);
      EXPECT_GT(check_search(search), 0u);
      search.options.cells_per_cutoff.fill(3);
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(stray_points, may_be_in_one_of_two_sets)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 400),
                               .y = make_points<T, dim>(cloud::uniform, 700),
                               .one_set = false,
                               .cutoff = 0.1};
    search.x.push_back(at<T, dim>(-1e9));
    EXPECT_LE(crowd(search), 100u);
    EXPECT_GT(check_search(search), 0u);
    search.y.push_back(at<T, dim>(-1e9));
    search.y.push_back(at<T, dim>(2e9));
    EXPECT_LE(crowd(search), 100u);
    EXPECT_GT(check_search(search), 0u);
  }

  TYPED_TEST(stray_points, may_be_clusters)
  {
    // two clouds of the same size; and one in a box so long that it might be open
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 500), .cutoff = 0.1};
    for (int i = 0; i < 500; ++i)
    {
      std::array<double, dim> x;
      for (int a = 0; a < dim; ++a) x[a] = double(search.x.columns[a][i]) + 1e6;
      search.x.push_back(x);
    }
    EXPECT_LE(crowd(search), 200u);
    EXPECT_GT(check_search(search), 0u);

    for (auto& column : search.x.columns)
    {
      column.resize(500);
      for (T& x : column) x += T(2);
    }
    search.options.period.fill(T(1e9));
    EXPECT_LE(crowd(search), 200u);
    EXPECT_GT(check_search(search), 0u);
    // pairs through the border, where all stays as it is
    for (auto& column : search.x.columns)
    {
      column[7] = T(0.01);
      column[8] = T(1e9) - (sizeof(T) == 4 ? T(64) : T(0.01));
    }
    EXPECT_GT(check_search(search), 0u);
  }

  TYPED_TEST(stray_points, change_no_cells_that_are_not_crowded)
  {
    // points far from each other all over a large box; a box of just as many cells as there may be
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 1000), .cutoff = 1e-9};
    for (auto& column : search.x.columns) column.push_back(column[3]); // a pair
    cell_list<T, dim> const sparse(search.x.view(), search.cutoff);
    for (int a = 0; a < dim; ++a)
    {
      EXPECT_EQ(sparse.grid().cells[a], max_cells_per_axis);
      EXPECT_EQ(sparse.grid().pieces[a].n, 0u);
    }
    EXPECT_EQ(check_search(search), 2u);

    double const just =
        (max_cells_per_axis - 0.5) * detail::farthest_along<T>(T(0.1), detail::cell_frame<dim>(),
                                                               detail::points_along<dim>(), 0);
    search = {.x = make_points<T, dim>(cloud::uniform, 1000), .cutoff = 0.1};
    search.options.cells_per_cutoff.fill(1);
    for (auto& column : search.x.columns)
    {
      column[0] = 0;
      column[1] = static_cast<T>(just);
    }
    cell_list<T, dim> const fits(search.x.view(), search.cutoff, search.options);
    for (int a = 0; a < dim; ++a)
    {
      EXPECT_EQ(fits.grid().cells[a], max_cells_per_axis);
      EXPECT_EQ(fits.grid().pieces[a].n, 0u);
    }
  }

  TEST(stray_points, may_come_and_go)
  {
    auto x = make_points<double, 3>(cloud::uniform, 2000);
    cell_list<double, 3> cells(x.view(), 0.1);
    index_type const n_cells = cells.size();
    auto const without = cells.grid();
    double const stayed = std::exchange(x.columns[1][77], 1e12);
    cells.rebuild(x.view());
    EXPECT_GE(cells.size(), n_cells);
    EXPECT_GT(cells.grid().pieces[1].n, 0u);
    EXPECT_EQ(cells.grid().pieces[0].n, 0u);
    x.columns[1][77] = stayed;
    cells.rebuild(x.view());
    EXPECT_EQ(cells.size(), n_cells);
    EXPECT_EQ(cells.grid().cells, without.cells);
    EXPECT_EQ(cells.grid().pieces[1].n, 0u);
  }
}
