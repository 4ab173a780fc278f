#include <nearfield/p2p/near_field.hpp>

#include "backwards.hpp"
#include "complains_of.hpp"
#include "in_mutual_form.hpp"
#include "p2p/p2p_cases.hpp"
#include "points.hpp"

#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    grad_one_over_r<3> const k{};

    /// Columns over `leaves`, in the order of the arrays that these were made from, and over their boxes, in the
    /// order of the boxes.
    template <class Leaves>
    struct both_orders
    {
      Leaves const& leaves;
      soa<double const, 3> x, y;
      guarded<double, 1> const q = some_values<double, 1>(y.size());
      column_set<double, 3> const sorted_x = gather(leaves.target_order(), x),
                                  sorted_y = gather(leaves.source_order(), y);
      column_set<double, 1> const sorted_q = gather(leaves.source_order(), q.view());
      column_set<double, 3> out = of_value(5), sums = of_value(5);

      [[nodiscard]] column_set<double, 3> of_value(double value) const
      {
        column_set<double, 3> result;
        for (auto& column : result.columns) column.assign(x.size(), value);
        return result;
      }

      /// near(leaves, x...) and near_boxes(sorted x...) give the same bits, whether they overwrite or add.
      void expect_equal(auto const& near, auto const& near_boxes)
      {
        for (bool const accumulate : {false, true})
        {
          near(near_field_options{.accumulate = accumulate});
          near_boxes(near_field_options{.accumulate = accumulate});
          for (int c = 0; c < 3; ++c)
            EXPECT_EQ(gather(leaves.target_order(), out.columns[c]), sums.columns[c]);
        }
      }
    };

    template <class Leaves>
    void expect_one_set(Leaves const& leaves, soa<double const, 3> const& x)
    {
      both_orders<Leaves> on{leaves, x, x};
      on.expect_equal([&](auto const& options)
                      { near_field(simd, k, leaves, x, on.q.view(), on.out.view(), options); },
                      [&](auto const& options)
                      {
                        near_field(simd, k, leaves.targets(), leaves.interactions(),
                                   on.sorted_x.view(), on.sorted_q.view(), on.sums.view(), options);
                      });
      on.expect_equal(
          [&](auto const& options)
          { near_field(simd, k, leaves, x, on.q.view(), on.out.view(), in_mutual_form(options)); },
          [&](auto const& options)
          {
            near_field(simd, k, leaves.targets(), leaves.half_interactions(), on.sorted_x.view(),
                       on.sorted_q.view(), on.sums.view(), in_mutual_form(options));
          });
    }
  }

  TEST(near_field_of_leaves, has_the_order_of_the_arrays)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 500, 1);
    expect_one_set(build_tree(x.view(), {.max_leaf_size = 16}), x.view());
    expect_one_set(cell_list{x.view(), 0.3}, x.view());
  }

  TEST(near_field_of_leaves, has_the_order_of_the_arrays_of_two_sets)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 300, 1);
    auto const y = make_points<double, 3>(cloud::uniform, 400, 2);
    auto const tree = build_tree(x.view(), y.view(), {.max_leaf_size = 16});
    both_orders<nearfield::tree<3>> on{tree, x.view(), y.view()};
    on.expect_equal([&](auto const& options)
                    { near_field(simd, k, tree, on.x, on.y, on.q.view(), on.out.view(), options); },
                    [&](auto const& options)
                    {
                      near_field(simd, k, tree.targets(), tree.interactions(), on.sorted_x.view(),
                                 on.sorted_y.view(), on.sorted_q.view(), on.sums.view(), options);
                    });
  }

  TEST(near_field_of_leaves, has_the_bits_of_one_thread_on_those_of_an_executor)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 70'000, 1);
    auto const y = make_points<double, 3>(cloud::uniform, 5000, 2);
    auto const one_set = build_tree(y.view(), {.max_leaf_size = 30}),
               two_sets = build_tree(x.view(), y.view(), {.max_leaf_size = 30});
    auto const q = some_values<double, 1>(y.size());
    backwards on(5);
    for (bool const accumulate : {false, true})
    {
      std::vector<double> expected(y.size(), 3.), out = expected;
      near_field(simd, one_over_r<>(), one_set, y.view(), q.view(), soa{expected},
                 {.accumulate = accumulate});
      near_field(simd.with(on), one_over_r<>(), one_set, y.view(), q.view(), soa{out},
                 {.accumulate = accumulate});
      EXPECT_EQ(out, expected);
      expected.assign(x.size(), 3.);
      out = expected;
      near_field(simd, one_over_r<>(), two_sets, x.view(), y.view(), q.view(), soa{expected},
                 {.accumulate = accumulate});
      near_field(simd.with(on), one_over_r<>(), two_sets, x.view(), y.view(), q.view(), soa{out},
                 {.accumulate = accumulate});
      EXPECT_EQ(out, expected);
    }
    EXPECT_GT(on.most_parts, 5);
    auto const none = build_tree(soa<double const, 3>());
    near_field(simd.with(on), one_over_r<>(), none, soa<double const, 3>(), soa<double const, 1>(),
               soa<double, 1>());
  }

  namespace
  {
    /// Without a mutual form.
    struct one_way
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 1;
      static constexpr auto name = "one_way";

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
      {
        return {{{r[0] * r[0] + r[1]}}};
      }
    };
  }

  TEST(near_field_of_leaves, takes_the_form_that_is_possible_and_faster)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 2000, 1);
    auto const one_set = build_tree(x.view(), {.max_leaf_size = 30}),
               two_sets = build_tree(x.view(), x.view(), {.max_leaf_size = 30});
    auto const q = some_values<double, 1>(x.size());
    auto const sums = [&](auto const& where, auto const& k, pair_form form)
    {
      std::vector<double> out(x.size());
      near_field(where, k, one_set, x.view(), q.view(), soa{out}, {.form = form});
      return out;
    };
    one_over_r<> const k;
    backwards on(5);
    auto const one_sided = sums(simd, k, pair_form::one_sided);
    auto const mutual = sums(simd, k, pair_form::mutual);
    EXPECT_NE(mutual, one_sided) << "the bits tell the forms apart";
    EXPECT_EQ(sums(simd, k, pair_form::automatic), mutual);
    EXPECT_EQ(sums(simd.with(on), k, pair_form::automatic),
              sums(simd.with(on), k, pair_form::mutual));
    EXPECT_EQ(sums(simd.with(on), k, pair_form::one_sided), one_sided);
    auto const small = build_tree(x.view(), {.level = 3}); // about 4 points a leaf
    auto const of_small = [&](auto const& where, pair_form form)
    {
      std::vector<double> out(2 * x.size());
      soa const q2{q.column(0), q.column(0)};
      near_field(where, k, small, x.view(), q2,
                 soa{std::span(out).first(x.size()), std::span(out).last(x.size())},
                 {.form = form});
      return out;
    };
    EXPECT_EQ(of_small(simd, pair_form::automatic), of_small(simd, pair_form::mutual));
    EXPECT_NE(of_small(simd, pair_form::automatic), of_small(simd, pair_form::one_sided));
    EXPECT_EQ(of_small(simd.with(on), pair_form::automatic), of_small(simd, pair_form::one_sided))
        << "groups cost more";
    EXPECT_EQ(sums(scalar, one_way(), pair_form::automatic),
              sums(scalar, one_way(), pair_form::one_sided));
    EXPECT_THAT([&] { sums(scalar, one_way(), pair_form::mutual); },
                complains_of("form mutual", "one_way"));

    std::vector<double> out(x.size());
    auto const of_list = [&](interaction_list const& list, pair_form form)
    {
      near_field(simd, k, one_set.targets(), list, x.view(), q.view(), soa{out}, {.form = form});
      return out;
    };
    EXPECT_EQ(of_list(one_set.interactions(), pair_form::automatic),
              of_list(one_set.interactions(), pair_form::one_sided));

    auto const of_two_sets = [&](pair_form form)
    {
      near_field(simd, k, two_sets, x.view(), x.view(), q.view(), soa{out}, {.form = form});
      return out;
    };
    EXPECT_EQ(of_two_sets(pair_form::automatic), of_two_sets(pair_form::one_sided));
    EXPECT_THAT([&] { of_two_sets(pair_form::mutual); },
                complains_of("form mutual", "two sets of points"));
  }

  TEST(near_field_of_leaves, takes_right_hand_sides_that_only_the_run_tells)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 200, 1);
    auto const tree = build_tree(x.view(), {.max_leaf_size = 16});
    auto const q = some_values<double, 2>(x.size());
    guarded<double, 6> expected(x.size()), out(x.size());
    auto const q_view = q.view();
    auto const out_view = out.view();
    near_field(simd, k, tree, x.view(), q_view, expected.view());
    near_field(simd, k, tree, x.view(),
               soa<double const, run_time_columns>({q_view.data(), 2}, x.size()),
               soa<double, run_time_columns>({out_view.data(), 6}, x.size()));
    for (int c = 0; c < 6; ++c)
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out_view[c][i], expected.view()[c][i]);
  }

  TEST(near_field_of_leaves, refuses_other_points_than_those_of_the_leaves)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 20, 1);
    auto const y = make_points<double, 3>(cloud::uniform, 21, 1);
    auto const one_set = build_tree(x.view()), two_sets = build_tree(x.view(), y.view());
    std::vector<double> q(21), out(20, 7.), more(21, 7.), b(21), c(21);
    std::vector<double> const untouched = out;
    EXPECT_THAT([&] { near_field(simd, k, one_set, y.view(), soa{q}, soa{more, b, c}); },
                complains_of("near_field", "x has 21", "expected 20"));
    EXPECT_THAT(
        [&]
        {
          near_field(simd, k, one_set, y.view(), soa{q}, soa{more, b, c},
                     {.form = pair_form::mutual});
        },
        complains_of("near_field", "x has 21"));
    EXPECT_THAT([&] { near_field(simd, k, two_sets, y.view(), x.view(), soa{q}, soa{more, b, c}); },
                complains_of("near_field", "x has 21", "expected 20"));
    std::vector<double> q20(20), b20(20), c20(20);
    EXPECT_THAT([&] { near_field(simd, k, two_sets, x.view(), soa{q20}, soa{out, b20, c20}); },
                complains_of("two sets of points, the step is given one"));
    EXPECT_THAT(
        [&] { near_field(simd, k, two_sets, x.view(), x.view(), soa{q20}, soa{out, b20, c20}); },
        complains_of("near_field", "y has 20", "expected 21"));
    // as many sources as points of the leaves
    auto const sources = make_points<double, 3>(cloud::uniform, 20, 2);
    cell_list<double, 3> const cells(x.view(), 0.5);
    auto const refused = complains_of("near_field", "one set of points, the step is given two");
    EXPECT_THAT(
        [&]
        { near_field(simd, k, one_set, x.view(), sources.view(), soa{q20}, soa{out, b20, c20}); },
        refused);
    EXPECT_THAT(
        [&] { near_field(simd, k, cells, x.view(), sources.view(), soa{q20}, soa{out, b20, c20}); },
        refused);
    EXPECT_EQ(out, untouched);
  }
}
