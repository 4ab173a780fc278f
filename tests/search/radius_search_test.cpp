#include <nearfield/search/radius_search.hpp>

#include "search_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class T, int Dim>
    struct kind
    {
      using real = T;
      static constexpr int dim = Dim;
    };

    template <class Kind>
    class radius_search_of : public ::testing::Test
    {};
    using kinds =
        ::testing::Types<kind<float, 2>, kind<float, 3>, kind<double, 2>, kind<double, 3>>;
    TYPED_TEST_SUITE(radius_search_of, kinds);

    /// A cutoff with about ten neighbours a point in the unit cube.
    template <int Dim>
    double cutoff_for(std::size_t n)
    {
      return std::pow(10. / (static_cast<double>(n) * (Dim == 2 ? 3.14 : 4.19)), 1. / Dim);
    }

    template <class T, int Dim>
    void wrap(points<T, Dim>& x, std::array<T, Dim> const& period)
    {
      for (int a = 0; a < Dim; ++a)
        for (T& value : x.columns[a])
          if (period[a] > 0)
          {
            value = value - period[a] * std::floor(value / period[a]);
            if (!(value < period[a])) value = 0;
          }
    }
  }

  TYPED_TEST(radius_search_of, finds_the_pairs_of_every_cloud)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (cloud const shape : all_clouds)
    {
      SCOPED_TRACE(name_of(shape));
      std::size_t const n = shape == cloud::all_equal || shape == cloud::coincident ? 70 : 500;
      search_case<T, dim> search{.x = make_points<T, dim>(shape, n), .cutoff = cutoff_for<dim>(n)};
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(radius_search_of, finds_the_pairs_of_few_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::size_t const n : {0, 1, 2, 3, 4, 5, 8, 9, 17})
    {
      SCOPED_TRACE(n);
      auto const x = make_points<T, dim>(cloud::uniform, n);
      check_search<T, dim>({.x = x, .cutoff = 0.5});
      // larger than the box: everything meets everything
      EXPECT_EQ((check_search<T, dim>({.x = x, .cutoff = 5})), n * (n - (n > 0)));
    }
  }

  TYPED_TEST(radius_search_of, takes_any_cells_per_cutoff)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::uniform, 300);
    for (int k = 1; k <= 4; ++k)
      for (int axis = 0; axis <= dim; ++axis) // one axis, or all
      {
        SCOPED_TRACE(testing::Message() << k << " on axis " << axis);
        search_case<T, dim> search{.x = x, .cutoff = 0.21};
        search.options.cells_per_cutoff.fill(axis == dim ? k : 0);
        if (axis < dim) search.options.cells_per_cutoff[axis] = k;
        check_search(search);
        search.options.period.fill(1);
        check_search(search);
      }
  }

  TYPED_TEST(radius_search_of, wraps_every_subset_of_axes)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (int axes = 1; axes < 1 << dim; ++axes)
      for (double const cutoff : {0.1, 0.24, 0.3, 0.36, 0.41, 0.5}) // L from 10 R down to 2 R
      {
        SCOPED_TRACE(testing::Message() << "axes " << axes << ", cutoff " << cutoff);
        search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 150), .cutoff = cutoff};
        for (int a = 0; a < dim; ++a)
          if (axes >> a & 1) search.options.period[a] = 1;
        EXPECT_GT(check_search(search), 0u);
      }
  }

  TYPED_TEST(radius_search_of, wraps_points_on_a_lattice)
  {
    // distances of exactly the cutoff and of exactly half a period
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (int const side : {4, 5})
      for (double const cutoff : {1., 1.5, 2.})
      {
        SCOPED_TRACE(testing::Message() << side << ", cutoff " << cutoff);
        search_case<T, dim> search{.cutoff = cutoff};
        int const n = dim == 2 ? side * side : side * side * side;
        for (int i = 0; i < n; ++i)
        {
          std::array<double, dim> x;
          for (int a = 0, rest = i; a < dim; ++a, rest /= side) x[a] = rest % side;
          search.x.push_back(x);
        }
        search.options.period.fill(static_cast<T>(side));
        EXPECT_EQ(check_search(search) == 0, cutoff == 1.) << "strictly less";
      }
  }

  TYPED_TEST(radius_search_of, decides_at_the_cutoff_to_the_bit)
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
        EXPECT_GT(check_search(search), 0u);
        search.options.cells_per_cutoff.fill(3);
        check_search(search);
      }
  }

  TYPED_TEST(radius_search_of, finds_the_points_near_queries)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (auto const& [n, m] : {std::pair{0, 5}, {5, 0}, {1, 1}, {200, 30}, {30, 200}, {90, 90}})
      for (bool const periodic : {false, true})
      {
        SCOPED_TRACE(testing::Message() << n << " queries, " << m << " points, " << periodic);
        search_case<T, dim> search{.x = make_points<T, dim>(cloud::coincident, n, 3),
                                   .y = make_points<T, dim>(cloud::uniform, m, 4),
                                   .one_set = false,
                                   .cutoff = 0.3};
        if (periodic) search.options.period.fill(1);
        check_search(search);
      }
    // a point of both sets is a pair with itself
    auto const x = make_points<T, dim>(cloud::uniform, 20);
    EXPECT_EQ((check_search<T, dim>({.x = x, .y = x, .one_set = false, .cutoff = 5})), 400u);
  }

  TYPED_TEST(radius_search_of, wraps_displacements_of_moved_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::array<T, dim> period;
    for (int a = 0; a < dim; ++a) period[a] = static_cast<T>(0.7 + 0.4 * a);
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::plummer, 300), .cutoff = 0.13};
    wrap<T, dim>(search.x, period);
    search.options.period = period;
    EXPECT_GT(check_search(search), 0u);
  }

  TYPED_TEST(radius_search_of, finds_pairs_in_sparse_and_odd_clouds)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(5);
    search_case<T, dim> sparse{.cutoff = 0.01};
    search_case<T, dim> line{.cutoff = 0.02};
    search_case<T, dim> flat_box{.cutoff = 0.3};
    for (int i = 0; i < 100; ++i)
    {
      // pairs far from each other: 10^12 cells between the ends
      auto x = uniform_point<dim>(random);
      for (double& value : x) value = std::floor(value * 1e4) / 1e4 * 1e4;
      sparse.x.push_back(x);
      x[0] += 0.005;
      sparse.x.push_back(x);
      std::array<double, dim> on_line;
      on_line.fill(0.1 * i / 100.);
      line.x.push_back(on_line);
      auto y = uniform_point<dim>(random);
      y[0] *= 30;
      y[dim - 1] *= 0.01;
      flat_box.x.push_back(y);
    }
    EXPECT_GT(check_search(sparse), 0u);
    EXPECT_GT(check_search(line), 0u);
    EXPECT_GT(check_search(flat_box), 0u);
    flat_box.options.period[0] = 30;
    check_search(flat_box);
  }
}
