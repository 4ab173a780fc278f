// Steps in periodic boxes, against plain sums over the images. Compiled for CPU workers, and with NEARFIELD_TEST_CUDA
// for GPUs.

#include "own_graph.hpp"
#include "random_cells.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace nearfield::test
{
  namespace
  {
    template <class K, class T>
    struct of_type
    {
      using interaction = K;
      using real = T;
    };

    template <class Type>
    struct starpu_periodic_step : ::testing::Test
    {};
    using types =
        ::testing::Types<of_type<one_over_r<3>, double>, of_type<val_grad_one_over_r<3>, float>,
                         of_type<grad_log_r, double>, of_type<dipole_tensor<3>, double>>;
    TYPED_TEST_SUITE(starpu_periodic_step, types);
  }

  // Groups of one leaf and of several, so that images lie in halos, too.
  TYPED_TEST(starpu_periodic_step, sums_over_all_images_that_touch)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    K const k;
    for (std::uint64_t seed = 0; seed < 12; ++seed)
    {
      periodic_case<T, K::dim> const c(seed, 150);
      SCOPED_TRACE(testing::Message() << "case " << seed << ", " << c.name());
      auto const q = make_inputs<T, K::n_in>(c.x.size()), y_q = make_inputs<T, K::n_in>(c.y.size());
      auto const one = build_tree(c.x.view(), c.options);
      auto const two = build_tree(c.x.view(), c.y.view(), c.options);
      auto const of_one = periodic_reference(k, one, c.x, c.x, q.view());
      auto out = make_columns<T, K::n_out>(c.x.size(), T(-7));
      for (int const leaves_per_group : {1, 6, 0})
      {
        auto const groups = group_leaves(one, {.leaves_per_group = leaves_per_group});
        for (pair_form const form : pair_forms)
        {
          starpu::near_field step{one_runtime(), k, groups, c.x.view(), q.view(), writable(out),
                                  {.form = form}};
          step.submit();
          step.wait();
          EXPECT_LE(error_of(writable(out), of_one), tolerance<T>) << "form " << int(form);
        }
      }
      auto const groups = group_leaves(two, {.leaves_per_group = 6});
      starpu::near_field step{one_runtime(), k,          groups,       c.x.view(),
                              c.y.view(),    y_q.view(), writable(out)};
      step.submit();
      step.wait();
      EXPECT_LE(error_of(writable(out), periodic_reference(k, two, c.x, c.y, y_q.view())),
                tolerance<T>);
      if (this->HasFailure()) return;
    }
  }

  TYPED_TEST(starpu_periodic_step, of_a_moving_tree_wraps_as_well)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (int const level : {-1, 0, 1, 2})
      for (pair_form const form : pair_forms)
      {
        tree_options<K::dim> options{.max_leaf_size = 25};
        if (level >= 0) options.level = level;
        options.period.fill(1);
        options.period[K::dim - 1] = level % 2 == 0 ? 1.25 : 0;
        own_columns<K, T> p(200), other(150, 7);
        starpu::moving_tree<T, K::dim> tree(one_runtime(), p.hx, options),
            both(one_runtime(), p.hx, other.hx, options);
        starpu::near_field step{one_runtime(), K(),    tree,
                                p.hq,          p.hout, {.accumulate = true, .form = form}};
        step.submit();
        starpu::near_field from_other{one_runtime(), K(),    both,
                                      other.hq,      p.hout, {.accumulate = true}};
        from_other.submit();
        step.wait();
        from_other.wait();
        auto const leaves = build_tree(p.x.view(), options);
        auto const of_both = build_tree(p.x.view(), other.x.view(), options);
        EXPECT_LE(p.error(periodic_reference(K(), leaves, p.x, p.x, p.q.view()) +
                          periodic_reference(K(), of_both, p.x, other.x, other.q.view())),
                  tolerance<T>)
            << "level " << level << ", form " << int(form);
      }
  }

  TEST(starpu_periodic_steps, serve_several_right_hand_sides)
  {
    one_over_r<3> const k;
    auto const x = make_points<double, 3>(cloud::uniform, 500);
    auto const q = make_inputs<double, 3>(x.size());
    for (int const level : {0, 1, 3})
    {
      auto const tree = build_tree(x.view(), {.level = level, .period = {1, 0, 2}});
      auto const groups = group_leaves(tree, {.leaves_per_group = 7});
      for (pair_form const form : pair_forms)
      {
        auto out = make_columns<double, 3>(x.size(), -7.);
        starpu::near_field step{one_runtime(), k, groups, x.view(), q.view(), writable(out),
                                {.form = form}};
        step.submit();
        step.wait();
        for (std::size_t s = 0; s < 3; ++s)
          EXPECT_LE(
              error_of(soa{out.columns[s]},
                       periodic_reference(k, tree, x, x, soa<double const, 1>(soa{q.columns[s]}))),
              tolerance<double>)
              << "level " << level << ", form " << int(form);
      }
    }
  }

  // The cells of this list are the leaves of that tree.
  TEST(starpu_periodic_steps, take_cell_lists)
  {
    grad_one_over_r<3> const k;
    auto const x = make_points<double, 3>(cloud::uniform, 900);
    auto const q = make_inputs<double, 1>(x.size());
    cell_list<double, 3> const cells(x.view(), 0.24,
                                     {.cells_per_cutoff = {1, 1, 1}, .period = {1, 1, 1}});
    ASSERT_EQ(cells.grid().cells[2], 4);
    auto const tree = build_tree(x.view(), {.level = 2, .period = {1, 1, 1}});
    auto const expected = periodic_reference(k, tree, x, x, q.view());
    auto const groups = group_leaves(cells, {.leaves_per_group = 5});
    for (pair_form const form : pair_forms)
    {
      auto out = make_columns<double, 3>(x.size(), -7.);
      starpu::near_field step{one_runtime(), k, groups, x.view(), q.view(), writable(out),
                              {.form = form}};
      step.submit();
      step.wait();
      EXPECT_LE(error_of(writable(out), expected), tolerance<double>) << "form " << int(form);
    }
  }

  // As one thread does, which is tested without StarPU: several images of a pair and of a cell, in boxes of any shape.
  TEST(starpu_periodic_steps, take_boxes_of_any_shape)
  {
    one_over_r<3> const k;
    random_numbers random(3);
    for (int c = 0; c < 20; ++c)
    {
      SCOPED_TRACE(c);
      auto const box = random_cell<3>(random, 1);
      detail::cell_frame<3> const frame(box);
      // in some cases all points are inside
      double const reach = c % 3 == 0 ? -0.01 : 2;
      auto const make = [&](int n)
      {
        points<double, 3> made;
        for (int i = 0; i < n; ++i)
        {
          auto place = frame.origin;
          for (int a = 0; a < 3; ++a)
          {
            double const along = random.uniform(-reach, 1 + reach);
            for (int b = 0; b < 3; ++b) place[b] += along * frame.reduced[a][b];
          }
          made.push_back(place);
        }
        return made;
      };
      auto const x = make(60), y = make(40);
      auto const q = make_inputs<double, 1>(x.size()), y_q = make_inputs<double, 1>(y.size());
      auto const compare = [](auto const& expected, auto const& out)
      {
        double largest = 0;
        for (double const sum : expected.columns[0]) largest = std::max(largest, std::abs(sum));
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(out.columns[0][i], expected.columns[0][i], 1e-12 * largest);
      };
      auto const expect_sums = [&](auto const& leaves)
      {
        auto expected = make_columns<double, 1>(x.size(), -7.);
        near_field(simd, k, leaves, x.view(), q.view(), writable(expected));
        for (int const leaves_per_group : {1, 5})
          for (pair_form const form : pair_forms)
          {
            SCOPED_TRACE(testing::Message() << "form " << int(form));
            auto const groups = group_leaves(leaves, {.leaves_per_group = leaves_per_group});
            auto out = make_columns<double, 1>(x.size(), -7.);
            starpu::near_field step{one_runtime(), k, groups, x.view(), q.view(), writable(out),
                                    {.form = form}};
            step.submit();
            step.wait();
            compare(expected, out);
          }
      };
      auto const expect_sums_of_two = [&](auto const& leaves)
      {
        auto expected = make_columns<double, 1>(x.size(), -7.), out = expected;
        near_field(simd, k, leaves, x.view(), y.view(), y_q.view(), writable(expected));
        auto const groups = group_leaves(leaves, {.leaves_per_group = 5});
        starpu::near_field step{one_runtime(), k,          groups,       x.view(),
                                y.view(),      y_q.view(), writable(out)};
        step.submit();
        step.wait();
        compare(expected, out);
      };
      expect_sums(cell_list<double, 3>(x.view(), 0.3, {.cell = box}));
      expect_sums(build_tree(x.view(), {.max_leaf_size = 10, .cell = box}));
      expect_sums_of_two(cell_list<double, 3>(x.view(), y.view(), 0.3, {.cell = box}));
      expect_sums_of_two(build_tree(x.view(), y.view(), {.max_leaf_size = 10, .cell = box}));
      if (::testing::Test::HasFailure()) return;
    }
  }
}
