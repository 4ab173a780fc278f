#include <nearfield/p2p/near_field.hpp>

#include "backends.hpp"
#include "complains_of.hpp"
#include "in_mutual_form.hpp"
#include "p2p/p2p_cases.hpp"

#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

// Points as records x y z q ... out, beside the same values in columns: all functions give the same bits, and write
// the outputs only.

namespace nearfield::test
{
  namespace
  {
    template <class T>
    bool same_bits(T a, T b)
    {
      return std::memcmp(&a, &b, sizeof(T)) == 0;
    }

    /// What a function takes of one set.
    template <class X, class Q, class Out>
    struct views
    {
      X x;
      Q q;
      Out out;
    };

    template <class T, int Dim, int NQ, int NOut>
    struct records
    {
      static constexpr int width = Dim + NQ + NOut + 1; // the last value of a record is not ours
      static constexpr T other = T(-77);

      std::size_t n;
      guarded<T, Dim> x;
      guarded<T, NQ> q;
      guarded<T, NOut> out;
      std::vector<T> values;

      records(guarded<T, Dim> positions, std::uint64_t seed)
          : n(positions.size()), x(std::move(positions)), q(some_values<T, NQ>(n, seed)),
            out(some_values<T, NOut>(n, seed + 1)), values((n + 1) * width, other)
      {
        auto const fill = [&](auto const& columns, int first, int n_columns)
        {
          for (int c = 0; c < n_columns; ++c)
            for (std::size_t i = 0; i < n; ++i)
              values[i * width + static_cast<std::size_t>(first + c)] = columns.column(c)[i];
        };
        fill(x, 0, Dim);
        fill(q, Dim, NQ);
        fill(out, Dim + NQ, NOut);
      }

      auto in_columns()
      {
        return views<soa<T, Dim>, soa<T, NQ>, soa<T, NOut>>{x.view(), q.view(), out.view()};
      }
      auto in_records()
      {
        T* const first = values.data();
        return views<strided<T, Dim>, strided<T, NQ>, strided<T, NOut>>{
            matrix_columns<Dim>(first, n, width, 1), matrix_columns<NQ>(first + Dim, n, width, 1),
            matrix_columns<NOut>(first + Dim + NQ, n, width, 1)};
      }
      /// inputs in columns, outputs x0 y0 z0 x1 ...
      auto mixed(std::vector<T>& array)
      {
        array.resize(n * NOut);
        auto const outputs = interleaved<NOut>(array);
        for (int c = 0; c < NOut; ++c)
          for (std::size_t i = 0; i < n; ++i) outputs[c][i] = out.column(c)[i];
        return views<soa<T const, Dim>, soa<T, NQ>, strided<T, NOut>>{x.view(), q.view(), outputs};
      }

      void expect_same_bits() const
      {
        auto const expect = [&](auto const& columns, int first, int n_columns)
        {
          for (int c = 0; c < n_columns; ++c)
            for (std::size_t i = 0; i < n; ++i)
              ASSERT_TRUE(same_bits(values[i * width + static_cast<std::size_t>(first + c)],
                                    columns.column(c)[i]))
                  << "column " << first + c << " of point " << i;
        };
        expect(x, 0, Dim);
        expect(q, Dim, NQ);
        expect(out, Dim + NQ, NOut);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(values[(i + 1) * width - 1], other);
      }
    };

    template <class K, class T, int Sides>
    using records_of = records<T, K::dim, Sides * K::n_in, Sides * K::n_out>;

    /// call(views of a, views of b) over columns and over records
    template <class Records, class Call>
    void expect_same(char const* what, Records a, Records b, Call const& call)
    {
      SCOPED_TRACE(what);
      call(a.in_columns(), b.in_columns());
      call(a.in_records(), b.in_records());
      a.expect_same_bits();
      b.expect_same_bits();
    }

    template <int Sides, class K, class T>
    void expect_same_on_arrays(K const& k, std::size_t n, std::size_t m)
    {
      SCOPED_TRACE(testing::Message() << n << " and " << m << " points, " << Sides << " sides");
      using both = records_of<K, T, Sides>;
      both const a(some_points<T, K::dim>(cloud::coincident, n, 1), 3),
          b(some_points<T, K::dim>(cloud::coincident, m, 2), 5);
      for (tested_backend const& backend : tested_backends())
      {
        SCOPED_TRACE(backend);
        backend.run(
            [&](auto where)
            {
              expect_same("inner", a, b,
                          [&](auto x, auto) { p2p_inner(where, k, x.x, x.q, x.out); });
              expect_same("inner, mutual", a, b,
                          [&](auto x, auto) { p2p_inner_mutual(where, k, x.x, x.q, x.out); });
              expect_same("outer", a, b,
                          [&](auto x, auto y) { p2p_outer(where, k, x.x, y.x, y.q, x.out); });
              expect_same("outer, mutual", a, b, [&](auto x, auto y)
                          { p2p_outer_mutual(where, k, x.x, y.x, x.q, y.q, x.out, y.out); });

              both columns = a;
              std::vector<T> array;
              auto const mixed = columns.mixed(array);
              p2p_inner(where, k, mixed.x, mixed.q, mixed.out);
              auto const view = columns.in_columns();
              p2p_inner(where, k, view.x, view.q, view.out);
              for (int c = 0; c < Sides * K::n_out; ++c)
                for (std::size_t i = 0; i < n; ++i)
                  ASSERT_TRUE(same_bits(view.out[c][i], mixed.out[c][i])) << "mixed, point " << i;
            });
      }
    }

    template <int Sides, class K, class T>
    void expect_same_in_a_step(K const& k)
    {
      auto const in_any_order = [](std::size_t n, std::uint64_t seed)
      {
        return records_of<K, T, Sides>(some_points<T, K::dim>(cloud::plummer, n, seed), seed + 7);
      };
      auto const in_order = [](auto& set, std::span<index_type const> order)
      {
        auto const x = gather(order, set.in_records().x);
        return records_of<K, T, Sides>(guarded<T, K::dim>::copy_of(x.columns, set.n), 9);
      };
      auto targets = in_any_order(400, 1), sources = in_any_order(300, 2);
      for (int const size : {5, 30})
      {
        tree_options<K::dim> const options{.max_leaf_size = size};
        auto const tree = build_tree(targets.in_records().x, options);
        auto const two = build_tree(targets.in_records().x, sources.in_records().x, options);
        auto const all = in_order(targets, tree.target_order());
        auto const x = in_order(targets, two.target_order()),
                   y = in_order(sources, two.source_order());
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(backend);
          backend.run(
              [&](auto where)
              {
                for (bool const accumulate : {false, true})
                {
                  near_field_options const how{.accumulate = accumulate};
                  expect_same("one set", all, all,
                              [&](auto v, auto)
                              {
                                near_field(where, k, tree.targets(), tree.interactions(), v.x, v.q,
                                           v.out, how);
                              });
                  expect_same("mutual", all, all,
                              [&](auto v, auto)
                              {
                                near_field(where, k, tree.targets(), tree.half_interactions(), v.x,
                                           v.q, v.out, in_mutual_form(how));
                              });
                  expect_same("two sets", x, y,
                              [&](auto v, auto w)
                              {
                                near_field(where, k, two.targets(), two.interactions(), v.x, w.x,
                                           w.q, v.out, how);
                              });
                  expect_same("one set in the order of the arrays", targets, targets,
                              [&](auto v, auto)
                              { near_field(where, k, tree, v.x, v.q, v.out, how); });
                  expect_same(
                      "mutual in the order of the arrays", targets, targets, [&](auto v, auto)
                      { near_field(where, k, tree, v.x, v.q, v.out, in_mutual_form(how)); });
                  expect_same("two sets in the order of the arrays", targets, sources,
                              [&](auto v, auto w)
                              { near_field(where, k, two, v.x, w.x, w.q, v.out, how); });
                }
              });
        }
      }
    }

    template <class Case>
    class strided_views_of : public ::testing::Test
    {};

    // with a test for distance zero and without, radial and not, one output and several
    using some_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<3>, double>,
                         p2p_case<val_grad_one_over_r<3>, double>, p2p_case<gaussian<2>, float>,
                         p2p_case<log_r, double>, p2p_case<dipole_tensor<3>, float>>;
  }

  TYPED_TEST_SUITE(strided_views_of, some_cases, p2p_case_names);

  TYPED_TEST(strided_views_of, give_the_bits_of_columns)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    K const k = example<K>();
    for (std::size_t const n : {0, 1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 33, 65, 257})
      expect_same_on_arrays<1, K, T>(k, n, n % 5 == 0 ? n : 13);
    expect_same_on_arrays<1, K, T>(k, 600, more_than_a_panel<K, T>);
  }

  TYPED_TEST(strided_views_of, give_the_bits_of_columns_with_several_right_hand_sides)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (std::size_t const n : {1, 3, 16, 33, 300})
      expect_same_on_arrays<3, K, T>(example<K>(), n, 35);
  }

  TYPED_TEST(strided_views_of, give_the_bits_of_columns_in_a_step)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    expect_same_in_a_step<1, K, T>(example<K>());
    expect_same_in_a_step<2, K, T>(example<K>());
  }

  TEST(strided_views, give_the_bits_of_columns_over_cells)
  {
    using both = records_of<grad_one_over_r<3>, double, 1>;
    both const a(some_points<double, 3>(cloud::uniform, 300, 1), 3),
        b(some_points<double, 3>(cloud::uniform, 200, 2), 5);
    cell_list const cells{a.x.view(), 0.03}, two{a.x.view(), b.x.view(), 0.03};
    grad_one_over_r<3> const k;
    expect_same("one set", a, a,
                [&](auto v, auto) { near_field(simd, k, cells, v.x, v.q, v.out); });
    expect_same("mutual", a, a, [&](auto v, auto)
                { near_field(simd, k, cells, v.x, v.q, v.out, {.form = pair_form::mutual}); });
    expect_same("two sets", a, b,
                [&](auto v, auto w) { near_field(simd, k, two, v.x, w.x, w.q, v.out); });
  }

  TEST(strided_views, may_be_the_outputs_alone)
  {
    constexpr std::size_t n = 300;
    auto const x = some_points<double, 3>(cloud::uniform, n);
    auto const q = some_values<double, 1>(n);
    auto const tree = build_tree(x.view(), {.max_leaf_size = 8});
    grad_one_over_r<3> const k;
    guarded<double, 3> expected(n);
    near_field(simd, k, tree, x.view(), q.view(), expected.view());
    constexpr double other = -77;
    std::vector<double> records(4 * n, other); // out, and a value of somebody else
    strided const out{soa<double, 3>({records.data(), records.data() + 1, records.data() + 2}, n),
                      4};
    auto const expect_sums = [&]
    {
      for (std::size_t i = 0; i < n; ++i)
      {
        for (int c = 0; c < 3; ++c) EXPECT_EQ(records[4 * i + c], expected.column(c)[i]);
        EXPECT_EQ(records[4 * i + 3], other);
      }
    };
    near_field(simd, k, tree, x.view(), q.view(), out);
    expect_sums();
    auto const sorted_x = gather(tree.target_order(), x.view());
    auto const sorted_q = gather(tree.target_order(), q.view());
    near_field(simd, k, tree.targets(), tree.interactions(), sorted_x.view(), sorted_q.view(), out);
    near_field(simd, k, tree.targets(), tree.interactions(), sorted_x.view(), sorted_q.view(),
               expected.view());
    expect_sums();
  }

  TEST(strided_views, may_be_the_positions_or_the_inputs_of_sources_alone)
  {
    constexpr std::size_t n = 300;
    auto const x = some_points<double, 3>(cloud::uniform, n, 1),
               y = some_points<double, 3>(cloud::uniform, n, 2);
    auto const q = some_values<double, 1>(n);
    auto const tree = build_tree(x.view(), y.view(), {.max_leaf_size = 8});
    auto const sorted_x = gather(tree.target_order(), x.view()),
               sorted_y = gather(tree.source_order(), y.view());
    auto const sorted_q = gather(tree.source_order(), q.view());
    std::vector<double> rows(4 * n); // y, q
    for (std::size_t i = 0; i < n; ++i)
    {
      for (int d = 0; d < 3; ++d) rows[4 * i + d] = sorted_y.columns[d][i];
      rows[4 * i + 3] = sorted_q.columns[0][i];
    }
    auto const y_rows = matrix_columns<3>(rows.data(), n, 4, 1);
    auto const q_rows = matrix_columns<1>(rows.data() + 3, n, 4, 1);
    grad_one_over_r<3> const k;
    auto const step = [&](auto const& sources, auto const& inputs)
    {
      column_set<double, 3> out;
      for (auto& column : out.columns) column.resize(n);
      near_field(simd, k, tree.targets(), tree.interactions(), sorted_x.view(), sources, inputs,
                 out.view());
      return out.columns;
    };
    auto const expected = step(sorted_y.view(), sorted_q.view());
    EXPECT_EQ(step(y_rows, sorted_q.view()), expected);
    EXPECT_EQ(step(sorted_y.view(), q_rows), expected);
  }

  TEST(strided_views, may_have_columns_that_only_the_run_counts)
  {
    // charges as a matrix, a row for each point
    constexpr std::size_t n = 20, n_rhs = 3;
    auto const x = some_points<double, 3>(cloud::uniform, n);
    auto const q = some_values<double, n_rhs>(n);
    std::vector<double> rows(n * n_rhs), sums(n * n_rhs);
    std::vector<double*> first_q, first_sum;
    for (std::size_t c = 0; c < n_rhs; ++c)
    {
      for (std::size_t i = 0; i < n; ++i) rows[i * n_rhs + c] = q.column(static_cast<int>(c))[i];
      first_q.push_back(rows.data() + c);
      first_sum.push_back(sums.data() + c);
    }
    strided const all_q{soa<double, run_time_columns>(first_q, n), n_rhs},
        all_sums{soa<double, run_time_columns>(first_sum, n), n_rhs};
    guarded<double, n_rhs> expected(n);
    auto const expect_sums = [&]
    {
      for (std::size_t i = 0; i < n * n_rhs; ++i)
        EXPECT_EQ(sums[i], expected.column(static_cast<int>(i % n_rhs))[i / n_rhs]);
    };
    one_over_r<3> const k;
    p2p_inner(simd, k, x.view(), all_q, all_sums);
    p2p_inner(simd, k, x.view(), q.view(), expected.view());
    expect_sums();
    auto const tree = build_tree(x.view(), {.max_leaf_size = 4});
    near_field(simd, k, tree, x.view(), all_q, all_sums);
    near_field(simd, k, tree, x.view(), q.view(), expected.view());
    expect_sums();
  }

  namespace
  {
    class strided_errors : public ::testing::Test
    {
    protected:
      static constexpr std::size_t n = 5;
      one_over_r<2> const k{};
      std::vector<double> values = []
      {
        std::vector<double> all(7 * n);
        std::iota(all.begin(), all.end(), 0.);
        return all;
      }();
      std::vector<double> const before = values;
      std::vector<double> const q = std::vector<double>(n, 1.);

      /// N columns of records of `width` values, from value `first` on
      template <int N>
      strided<double, N> at(std::ptrdiff_t first, std::ptrdiff_t width = 7, std::size_t points = n)
      {
        return matrix_columns<N>(values.data() + first, points, width, 1);
      }

      ~strided_errors() override
      {
        EXPECT_EQ(values, before) << "an output was written before the error was found";
      }
    };
  }

  TEST_F(strided_errors, name_outputs_that_share_values)
  {
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), at<1>(2), at<1>(1)); },
                complains_of("p2p_inner", "output column 0 overlaps column 1 of x", "own memory"));
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), at<1>(2), at<1>(2)); },
                complains_of("output column 0 overlaps column 0 of q"));
    // later records: values 9 + 7 i and 2 + 7 i
    EXPECT_THAT([&] { p2p_inner_mutual(simd, k, at<2>(0, 7, 4), at<1>(2, 7, 4), at<1>(9, 7, 4)); },
                complains_of("p2p_inner_mutual", "column 0 of q"));
    EXPECT_THAT(
        [&]
        { p2p_outer_mutual(simd, k, at<2>(0), at<2>(0), at<1>(2), at<1>(2), at<1>(4), at<1>(4)); },
        complains_of("p2p_outer_mutual", "column 0 of y_out"));
    // columns, and records whose values lie in between
    EXPECT_THAT(
        [&]
        { p2p_outer(scalar, k, at<2>(0), at<2>(0), soa{std::span(values).first(n)}, at<1>(4)); },
        complains_of("p2p_outer", "column 0 of q"));
    // one of two widths
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), at<1>(2, 6), at<1>(3)); },
                complains_of("column 0 of q"));
    std::array<double*, 2> const twice{values.data() + 3, values.data() + 10};
    soa<double const, 2> const both{std::array<double const*, 2>{q.data(), q.data()}, n - 1};
    EXPECT_THAT(
        [&]
        { p2p_inner(simd, k, at<2>(0, 7, n - 1), both, strided{soa<double, 2>(twice, n - 1), 7}); },
        complains_of("output columns 0 and 1 overlap"));
  }

  TEST_F(strided_errors, name_sizes_and_null_columns)
  {
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), at<1>(2, 7, 4), at<1>(3)); },
                complains_of("p2p_inner", "q has 4", "expected 5"));
    strided<double, 1> const null = matrix_columns<1>(static_cast<double*>(nullptr), n, 7, 1);
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), at<1>(2), null); },
                complains_of("out: column 0 is null"));
  }

  TEST_F(strided_errors, are_found_over_leaves)
  {
    auto const tree = build_tree(at<2>(0)), two = build_tree(at<2>(0), at<2>(2));
    EXPECT_THAT([&] { near_field(simd, k, tree, at<2>(0), at<1>(2), at<1>(1)); },
                complains_of("near_field", "output column 0 overlaps column 1 of x"));
    EXPECT_THAT(
        [&]
        { near_field(simd, k, tree, at<2>(0), at<1>(2), at<1>(2), {.form = pair_form::mutual}); },
        complains_of("near_field", "column 0 of q"));
    EXPECT_THAT([&] { near_field(simd, k, two, at<2>(0), at<2>(2), at<1>(4), at<1>(3)); },
                complains_of("near_field", "output column 0 overlaps column 1 of y"));
    EXPECT_THAT([&] { near_field(simd, k, tree, at<2>(0, 7, 4), at<1>(2, 7, 4), at<1>(3, 7, 4)); },
                complains_of("near_field", "x has 4", "expected 5"));
  }

  TEST_F(strided_errors, name_numbers_of_right_hand_sides_before_anything_is_written)
  {
    std::array<double*, 2> const first{values.data() + 3, values.data() + 4};
    strided const out{soa<double, run_time_columns>(first, n), 7};
    auto const tree = build_tree(at<2>(0));
    EXPECT_THAT([&] { near_field(simd, k, tree, at<2>(0), at<1>(2), out); },
                complains_of("1 columns of inputs and 2 of outputs"));
    EXPECT_THAT(
        [&] { near_field(simd, k, tree.targets(), tree.interactions(), at<2>(0), at<1>(2), out); },
        complains_of("1 columns of inputs and 2 of outputs"));
    strided const nothing{soa<double, run_time_columns>(std::span(first).first(0), n), 7};
    EXPECT_THAT([&] { p2p_inner(simd, k, at<2>(0), nothing, nothing); },
                complains_of("0 columns of inputs and 0 of outputs"));
    strided const x_q{soa<double, run_time_columns>(std::span(first).first(1), n), 7};
    EXPECT_THAT(
        [&] { p2p_outer_mutual(simd, k, at<2>(0), at<2>(0), x_q, at<2>(0), at<2>(4), at<1>(6)); },
        complains_of("p2p_outer_mutual", "2 right-hand sides in y_q and 1 in x_q"));
  }

  TEST_F(strided_errors, are_none_for_records_of_inputs_and_outputs)
  {
    std::vector<double> const original = values;
    EXPECT_NO_THROW(p2p_inner(simd, k, at<2>(0), at<2>(2), at<2>(4)));
    // two widths that have no value in common: even and odd ones
    std::span<double const> const three(q.data(), 3);
    EXPECT_NO_THROW(p2p_inner(simd, k, soa{three, three}, at<1>(0, 4, 3), at<1>(1, 6, 3)));
    values = original;
  }
}
