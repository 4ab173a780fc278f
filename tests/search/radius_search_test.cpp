#include <nearfield/search/radius_search.hpp>

#include "search/search_case.hpp"
#include "temporaries.hpp"

#include <gtest/gtest.h>

#include <utility>

// Clouds of every kind, on every back-end.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class radius_search_of : public ::testing::Test
    {};
    TYPED_TEST_SUITE(radius_search_of, search_kinds);
  }

  TEST(neighbour_lists, lend_no_row_without_a_name)
  {
    static_assert(needs_a_name<csr<float, 3>>(NEARFIELD_ACCESS(row(0))));
    static_assert(needs_a_name<neighbour_table>(NEARFIELD_ACCESS(row(0))));
  }

  TYPED_TEST(radius_search_of, finds_the_pairs_of_every_cloud)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (cloud const shape : all_clouds)
    {
      SCOPED_TRACE(name_of(shape));
      std::size_t const n = shape == cloud::all_equal || shape == cloud::coincident ? 70 : 500;
      search_case<T, dim> const search{.x = make_points<T, dim>(shape, n),
                                       .cutoff = cutoff_for<dim>(10, n),
                                       .how_many = shape == cloud::coincident ? outputs::every
                                                                              : outputs::lists};
      EXPECT_GT(check_search(search), 0u);
    }
  }

  TYPED_TEST(radius_search_of, finds_the_pairs_of_few_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::size_t const n : {0, 1, 2, 3, 4, 5, 8, 9, 17, 33})
    {
      SCOPED_TRACE(n);
      auto const x = make_points<T, dim>(cloud::uniform, n);
      check_search<T, dim>({.x = x, .cutoff = 0.5});
    }
    for (std::size_t const n : {0, 1, 2, 33})
    {
      // larger than the box: everything meets everything
      auto const x = make_points<T, dim>(cloud::uniform, n);
      EXPECT_EQ((check_search<T, dim>({.x = x, .cutoff = 5, .how_many = outputs::every})),
                n * (n - (n > 0)));
    }
  }

  TYPED_TEST(radius_search_of, takes_any_cells_per_cutoff)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{.x = make_points<T, dim>(cloud::uniform, 150), .cutoff = 0.26};
    for (int k = 1; k <= 4; ++k)
      for (int const axis : {k % dim, dim}) // one axis, or all
        for (bool const periodic : {false, true})
        {
          SCOPED_TRACE(testing::Message()
                       << k << " on axis " << axis << (periodic ? ", periodic" : ""));
          search.options.cells_per_cutoff.fill(axis == dim ? k : 0);
          if (axis < dim) search.options.cells_per_cutoff[axis] = k;
          search.options.period.fill(T(periodic));
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
        if (n == 90) search.how_many = outputs::every;
        check_search(search);
      }
    // a point of both sets is a pair with itself
    auto const x = make_points<T, dim>(cloud::uniform, 20);
    EXPECT_EQ((check_search<T, dim>({.x = x, .y = x, .one_set = false, .cutoff = 5})), 400u);
    // nobody near
    auto far = x;
    for (T& value : far.columns[0]) value += T(1e5);
    EXPECT_EQ((check_search<T, dim>({.x = far, .y = x, .one_set = false})), 0u);
  }

  TYPED_TEST(radius_search_of, finds_pairs_in_flat_boxes_and_on_lines)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (int axis = 0; axis < dim; ++axis)
    {
      SCOPED_TRACE(testing::Message() << "along axis " << axis);
      search_case<T, dim> line{.x = make_points<T, dim>(cloud::uniform, 300), .cutoff = 0.02};
      for (int a = 0; a < dim; ++a)
        if (a != axis) line.x.columns[a].assign(line.x.size(), T(0.3));
      EXPECT_GT(check_search(line), 0u);
      search_case<T, dim> flat{.x = make_points<T, dim>(cloud::uniform, 300), .cutoff = 0.3};
      std::array<double, dim> by;
      by.fill(1);
      by[axis] = 30;
      by[(axis + 1) % dim] = 0.01;
      stretch<T, dim>(flat.x, by);
      EXPECT_GT(check_search(flat), 0u);
      flat.options.period[axis] = 30;
      wrap<T, dim>(flat.x, flat.options.period);
      check_search(flat);
    }
  }
}
