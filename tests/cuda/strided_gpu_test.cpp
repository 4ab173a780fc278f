// Strided views of device memory: what is made of them is what is made of the same values in columns, to the bit where
// a GPU repeats its own bits.

#include "complains_of.hpp"
#include "cuda/device_trees.hpp"
#include "tree/tree_cases.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/tree/cuda.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Rows of N values and one more, which nobody may touch, in device memory.
    template <class T, int N>
    class device_rows
    {
    public:
      static constexpr T untouched = T(77);

      explicit device_rows(soa<T const, N> const& from) : rows_(from.size() * (N + 1))
      {
        std::vector<T> rows(rows_.size(), untouched);
        auto const to = matrix_columns<N>(rows.data(), from.size(), N + 1, 1);
        for (int c = 0; c < N; ++c)
          for (std::size_t i = 0; i < from.size(); ++i) to[c][i] = from[c][i];
        rows_.copy_from(rows);
      }
      [[nodiscard]] strided<T, N> view()
      {
        return matrix_columns<N>(rows_.data(), rows_.size() / (N + 1), N + 1, 1);
      }
      /// Expects the values of columns of device memory.
      void expect_equal(device_columns<T, N> const& expected, T tolerance = 0) const
      {
        column_set<T, N> columns;
        for (auto& column : columns.columns) column.resize(expected.size());
        expected.copy_to(columns.view());
        std::vector<T> rows(rows_.size());
        rows_.copy_to(rows);
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
          for (int c = 0; c < N; ++c)
            ASSERT_NEAR(rows[i * (N + 1) + c], columns.columns[c][i], tolerance)
                << "column " << c << " of " << i;
          ASSERT_EQ(rows[i * (N + 1) + N], untouched) << i;
        }
      }

    private:
      device_array<T> rows_;
    };

    /// Values in columns and in rows of device memory.
    template <class T, int N>
    struct both_forms
    {
      template <class Columns>
      explicit both_forms(Columns const& of) : columns(of.view()), rows(of.view())
      {}
      device_columns<T, N> columns;
      device_rows<T, N> rows;
    };

    template <class T>
    std::vector<T> on_host(device_array<T> const& values)
    {
      std::vector<T> result(values.size());
      values.copy_to(result);
      return result;
    }

    template <class C>
    class strided_on_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(strided_on_gpu, all_coordinates, coordinate_names);
  }

  TYPED_TEST(strided_on_gpu, make_the_trees_of_columns_and_the_errors)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::plummer, 5000);
    auto const y = make_points<T, dim>(cloud::uniform, 300, 7);
    tree_options<dim> const how{.max_leaf_size = 20};
    both_forms<T, dim> on_x(x), on_y(y);
    auto tree = build_tree(cuda, on_x.rows.view(), on_y.columns.view(), how);
    expect_equal(tree, build_tree(x.view(), y.view(), how));
    tree.rebuild(on_y.rows.view());
    expect_equal(tree, build_tree(y.view(), how));
    tree.enqueue(on_y.rows.view());
    tree.finish();
    expect_equal(tree, build_tree(y.view(), how));

    auto stray = y; // whose gaps are left out
    for (auto& column : stray.columns) column[17] = T(-1e9);
    both_forms<T, dim> on_stray(stray);
    expect_equal(build_tree(cuda, on_stray.rows.view(), how), build_tree(stray.view(), how));

    x.columns[dim - 1][4321] = std::numeric_limits<T>::quiet_NaN();
    both_forms<T, dim> on_bad(x);
    EXPECT_THAT([&] { static_cast<void>(build_tree(cuda, on_bad.rows.view(), how)); },
                complains_of("4321", "nan"));
    EXPECT_THAT([&] { cuda_cell_list(cuda, on_bad.rows.view(), T(0.1)); },
                complains_of("4321", "nan"));
  }

  TYPED_TEST(strided_on_gpu, have_the_near_field_of_columns)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    using K = r_over_r3<dim>;
    K const k;
    auto const x = make_points<T, dim>(cloud::uniform, 4000),
               y = make_points<T, dim>(cloud::uniform, 3000, 4);
    both_forms<T, dim> on_x(x), on_y(y);
    both_forms<T, 1> q(random_columns<T, 1>(x.size())), y_q(random_columns<T, 1>(y.size()));
    auto const ones = random_columns<T, K::n_out>(x.size());
    tree_options<dim> const how{.max_leaf_size = 40};
    auto const one = build_tree(cuda, on_x.columns.view(), how);
    auto const two = build_tree(cuda, on_x.columns.view(), on_y.columns.view(), how);
    for (bool const accumulate : {false, true})
    {
      SCOPED_TRACE(accumulate);
      near_field_options const options{.accumulate = accumulate};
      both_forms<T, K::n_out> out(ones);
      near_field(cuda, k, one, on_x.columns.view(), q.columns.view(), out.columns.view(), options);
      near_field(cuda, k, one, on_x.rows.view(), q.rows.view(), out.rows.view(), options);
      out.rows.expect_equal(out.columns);
      near_field(cuda, k, two, on_x.columns.view(), on_y.columns.view(), y_q.columns.view(),
                 out.columns.view(), options);
      near_field(cuda, k, two, on_x.rows.view(), on_y.rows.view(), y_q.columns.view(),
                 out.rows.view(), options);
      out.rows.expect_equal(out.columns);
    }

    // without a tree
    cuda_list const list(cuda, one);
    both_forms<T, K::n_out> in_order(ones);
    near_field(cuda, k, list, on_x.columns.view(), q.columns.view(), in_order.columns.view());
    near_field(cuda, k, list, on_x.rows.view(), q.rows.view(), in_order.rows.view());
    in_order.rows.expect_equal(in_order.columns);
  }

  TYPED_TEST(strided_on_gpu, have_the_p2p_of_columns)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    using K = r_over_r3<dim>;
    K const k;
    auto const x = make_points<T, dim>(cloud::uniform, 700),
               y = make_points<T, dim>(cloud::uniform, 300, 4);
    both_forms<T, dim> on_x(x), on_y(y);
    both_forms<T, 1> q(random_columns<T, 1>(x.size())), y_q(random_columns<T, 1>(y.size()));
    both_forms<T, K::n_out> out(random_columns<T, K::n_out>(x.size())),
        y_out(random_columns<T, K::n_out>(y.size()));
    p2p_inner(cuda, k, on_x.columns.view(), q.columns.view(), out.columns.view());
    p2p_inner(cuda, k, on_x.rows.view(), q.rows.view(), out.rows.view());
    p2p_outer(cuda, k, on_x.columns.view(), on_y.columns.view(), y_q.columns.view(),
              out.columns.view());
    p2p_outer(cuda, k, on_x.rows.view(), on_y.rows.view(), y_q.rows.view(), out.rows.view());
    out.rows.expect_equal(out.columns);
    p2p_outer_mutual(cuda, k, on_x.columns.view(), on_y.columns.view(), q.columns.view(),
                     y_q.columns.view(), out.columns.view(), y_out.columns.view());
    p2p_outer_mutual(cuda, k, on_x.rows.view(), on_y.rows.view(), q.rows.view(), y_q.rows.view(),
                     out.rows.view(), y_out.rows.view());
    p2p_inner_mutual(cuda, k, on_x.columns.view(), q.columns.view(), out.columns.view());
    p2p_inner_mutual(cuda, k, on_x.rows.view(), q.rows.view(), out.rows.view());
    T const rounding = T(1e7) * tolerance<T>; // of sums up to 1e7, in no fixed order
    out.rows.expect_equal(out.columns, rounding);
    y_out.rows.expect_equal(y_out.columns, rounding);
  }

  TYPED_TEST(strided_on_gpu, have_the_pairs_of_columns)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::uniform, 2000),
               y = make_points<T, dim>(cloud::uniform, 1000, 4);
    both_forms<T, dim> on_x(x), on_y(y);
    T const cutoff = T(0.1);
    to_coo what{.distances = true};
    auto const expect_same = [&](auto& columns, auto& rows)
    {
      auto const expected = radius_search(cuda, columns, what);
      auto const found = radius_search(cuda, rows, what);
      EXPECT_EQ(on_host(found.i), on_host(expected.i));
      EXPECT_EQ(on_host(found.j), on_host(expected.j));
      EXPECT_EQ(on_host(found.r2), on_host(expected.r2));
      EXPECT_GT(found.i.size(), 100u);
    };
    cuda_cell_list one{cuda, on_x.columns.view(), cutoff}, rows{cuda, on_x.rows.view(), cutoff};
    expect_same(one, rows);
    what.which = pairs::full;
    one.rebuild(on_x.columns.view(), on_y.columns.view());
    rows.rebuild(on_x.rows.view(), on_y.rows.view());
    expect_same(one, rows);
  }

  TYPED_TEST(strided_on_gpu, are_gathered_and_scattered)
  {
    using T = typename TypeParam::real;
    auto const x = make_points<T, 3>(cloud::uniform, 1000);
    both_forms<T, 3> from(x), gathered(x), back(x);
    auto const tree = build_tree(cuda, from.columns.view());
    gather(cuda, tree.target_order(), from.columns.view(), gathered.columns.view());
    gather(cuda, tree.target_order(), from.rows.view(), gathered.rows.view());
    gathered.rows.expect_equal(gathered.columns);
    scatter(cuda, tree.target_order(), gathered.rows.view(), back.rows.view());
    back.rows.expect_equal(from.columns);
  }
}
