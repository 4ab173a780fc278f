#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include "complains_of.hpp"
#include "same_tree.hpp"
#include "tree_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

// Points in records of Dim + 2 values, beside the same points in columns.

namespace nearfield::test
{
  namespace
  {
    template <class C>
    class strided_points_of : public ::testing::Test
    {
    protected:
      using real = typename C::real;
      static constexpr int dimensions = C::dim;
      static constexpr std::size_t width = dimensions + 2;

      static std::vector<real> records(points<real, dimensions> const& x)
      {
        // a read beside the coordinates finds a point that is not finite
        std::vector<real> values((x.size() + 1) * width, std::numeric_limits<real>::quiet_NaN());
        auto const view = in_records(values, x.size());
        for (int d = 0; d < dimensions; ++d)
          for (std::size_t i = 0; i < x.size(); ++i) view[d][i] = x.columns[d][i];
        return values;
      }

      static strided<real, dimensions> in_records(std::vector<real>& values, std::size_t n)
      {
        return matrix_columns<dimensions>(values.data() + 1, n, width, 1);
      }
    };

    template <class T, int Dim>
    void expect_equal(cell_list<T, Dim> const& a, cell_list<T, Dim> const& b)
    {
      EXPECT_EQ(a.grid().lower, b.grid().lower);
      EXPECT_EQ(a.grid().cells, b.grid().cells);
      EXPECT_TRUE(std::ranges::equal(a.target_order(), b.target_order()));
      EXPECT_TRUE(std::ranges::equal(a.source_order(), b.source_order()));
      EXPECT_TRUE(std::ranges::equal(a.interactions().ranges, b.interactions().ranges));
      for (int d = 0; d < Dim; ++d)
      {
        soa<T const, Dim> const in_a = a.source_positions(), in_b = b.source_positions();
        EXPECT_TRUE(std::equal(in_a[d], in_a[d] + in_a.size(), in_b[d], in_b[d] + in_b.size()));
      }
    }
  }

  TYPED_TEST_SUITE(strided_points_of, all_coordinates, coordinate_names);

  TYPED_TEST(strided_points_of, make_the_same_tree)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (auto const& [shape, n, options] : tree_cases<dim>())
    {
      auto const x = make_points<T, dim>(shape, n, 1), y = make_points<T, dim>(shape, n + 3, 2);
      auto x_values = this->records(x), y_values = this->records(y);
      auto const x_records = this->in_records(x_values, n),
                 y_records = this->in_records(y_values, n + 3);
      expect_same_tree(build_tree(x_records, options), build_tree(x.view(), options));
      expect_same_tree(build_tree(x_records, y_records, options),
                       build_tree(x.view(), y.view(), options));
      expect_same_tree(build_tree(x.view(), y_records, options),
                       build_tree(x.view(), y.view(), options));
    }
  }

  TYPED_TEST(strided_points_of, make_the_same_cells)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    // cells that are counted, and so many that their keys are sorted
    for (double const cutoff : {0.1, 1e-4})
      for (std::size_t const n : {0, 1, 15, 16, 17, 500})
      {
        auto const x = make_points<T, dim>(cloud::plummer, n, 1),
                   y = make_points<T, dim>(cloud::uniform, n + 1, 2);
        auto x_values = this->records(x), y_values = this->records(y);
        auto const x_records = this->in_records(x_values, n),
                   y_records = this->in_records(y_values, n + 1);
        cell_list cells{x_records, cutoff};
        expect_equal(cells, cell_list{x.view(), cutoff});
        cells.rebuild(y_records);
        expect_equal(cells, cell_list{y.view(), cutoff});
        cells.rebuild(x_records, y.view());
        expect_equal(cells, cell_list{x.view(), y.view(), cutoff});
        expect_equal(cell_list{x.view(), y_records, cutoff}, cell_list{x.view(), y.view(), cutoff});
      }
  }

  TEST(strided_points, are_named_where_they_are_wrong)
  {
    std::vector<double> xyz{0, 0, 0, 0, 0, std::numeric_limits<double>::infinity()};
    EXPECT_THAT([&] { (void)build_tree(interleaved<3>(xyz)); },
                complains_of("point 1 of points", "(0, 0, inf)"));
    EXPECT_THAT(([&] { cell_list{interleaved<3>(xyz), 1.}; }),
                complains_of("coordinate 2 of point 1", "inf"));
    auto const null = matrix_columns<3>(static_cast<double*>(nullptr), 2, 3, 1);
    EXPECT_THAT([&] { (void)build_tree(null); }, complains_of("column 0 of points is null"));
    EXPECT_THAT(([&] { cell_list{null, 1.}; }), complains_of("column 0 of the points is null"));
  }

  TEST(gather, takes_views_with_strides_and_scatter_gives_them_back)
  {
    std::vector<index_type> const order{2, 0, 1};
    std::vector<float> const xy{0, 10, 1, 11, 2, 12};
    auto const sorted = gather(order, interleaved<2>(xy));
    EXPECT_EQ(sorted.columns[0], (std::vector<float>{2, 0, 1}));
    EXPECT_EQ(sorted.columns[1], (std::vector<float>{12, 10, 11}));
    std::vector<float> back(6);
    scatter(order, sorted.view(), interleaved<2>(back));
    EXPECT_EQ(back, xy);
    EXPECT_THAT([&] { scatter(order, sorted.view(), interleaved<2>(std::span(back).first(4))); },
                complains_of("to has 2"));
  }
}
