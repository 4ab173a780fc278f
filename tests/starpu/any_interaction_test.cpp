// Steps and tasks of every built-in interaction by its name, beside the calls of CPUs. Compiled for CPU workers, and for
// GPUs.

#include "by_name.hpp"
#include "complains_of.hpp"
#include "one_runtime.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using columns = run_time_set<double>;

    bool is_on_gpus()
    {
      return one_runtime().n_gpus() > 0;
    }

    /// Within rounding.
    void expect_close(columns const& found, columns const& expected)
    {
      for (std::size_t c = 0; c < expected.memory.size(); ++c)
      {
        double size = 0;
        for (double const value : expected.memory[c]) size = std::max(size, std::abs(value));
        for (std::size_t i = 0; i < expected.memory[c].size(); ++i)
          ASSERT_NEAR(found.memory[c][i], expected.memory[c][i], 1e-11 * size)
              << "output " << c << " of point " << i;
      }
    }
    /// The bits, unless GPUs compute.
    void expect_same(columns const& found, columns const& expected)
    {
      if (is_on_gpus()) return expect_close(found, expected);
      EXPECT_EQ(found.memory, expected.memory);
    }

    std::vector<starpu::handle> handles_of(columns& of)
    {
      std::vector<starpu::handle> handles;
      for (auto& column : of.memory)
        handles.push_back(starpu::handle::of(column.data(), column.size()));
      return handles;
    }

    template <int Dim>
    soa<double const, Dim> coordinates_of(columns const& x)
    {
      std::array<double const*, Dim> pointers;
      std::copy_n(x.pointers.begin(), Dim, pointers.begin());
      return {pointers, x.memory[0].size()};
    }

    /// An interaction, and points x and sources y for it with two right-hand sides.
    class tasks_of : public ::testing::TestWithParam<std::size_t>
    {
    protected:
      static constexpr std::size_t n = 300, n_sources = 200;

      [[nodiscard]] interaction_info const& info() const { return interaction_infos()[GetParam()]; }
      [[nodiscard]] columns outputs(int n_rhs = 2) const
      {
        return {n_rhs * info().n_out, n, [](int)
                {
                  return 0.5;
                }};
      }
      /// f(integral_constant<int, Dim>)
      template <class F>
      void in_dim(F const& f) const
      {
        info().dim == 2 ? f(std::integral_constant<int, 2>()) : f(std::integral_constant<int, 3>());
      }

      random_numbers random{GetParam()};
      any_interaction k = example_of(info());
      columns x = points_of<double>(k, n, random), y = points_of<double>(k, n_sources, random);
      columns q = values<double>(2 * info().n_in, n, random),
              y_q = values<double>(2 * info().n_in, n_sources, random);
    };
    INSTANTIATE_TEST_SUITE_P(all, tasks_of, ::testing::ValuesIn(built_interactions()),
                             &name_of_interaction);
  }

  TEST_P(tasks_of, steps_over_a_tree)
  {
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const tree = build_tree(coordinates_of<Dim>(x), {.max_leaf_size = 20});
          auto const groups = group_leaves(tree, {.leaves_per_group = 5});
          auto out = outputs(), expected = outputs();
          near_field(simd, k, tree, x.view(), q.view(), expected.view());
          for (pair_form const form : {pair_form::one_sided, pair_form::automatic})
          {
            starpu::near_field step{one_runtime(), k,          groups,        x.view(),
                                    q.view(),      out.view(), {.form = form}};
            step.submit();
            step.wait();
            EXPECT_GT(step.n_tasks(), 2u);
            step.form() == pair_form::one_sided ? expect_same(out, expected)
                                                : expect_close(out, expected);
          }
        });
  }

  TEST_P(tasks_of, steps_over_a_tree_of_two_sets)
  {
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const tree =
              build_tree(coordinates_of<Dim>(x), coordinates_of<Dim>(y), {.max_leaf_size = 20});
          auto const groups = group_leaves(tree, {.leaves_per_group = 5});
          auto out = outputs(), expected = outputs();
          near_field(simd, k, tree, x.view(), y.view(), y_q.view(), expected.view());
          starpu::near_field step{one_runtime(), k,          groups,    x.view(),
                                  y.view(),      y_q.view(), out.view()};
          step.submit();
          step.wait();
          expect_same(out, expected);
        });
  }

  TEST_P(tasks_of, steps_over_the_cells_of_systems_that_move)
  {
    double const cutoff = std::max(0.08, k.erased().cutoff);
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          std::array<index_type, 4> const offsets{0, 120, 130, n};
          cell_list<double, Dim> cells(coordinates_of<Dim>(x),
                                       {.offsets = offsets, .cutoffs = {&cutoff, 1}},
                                       {.skin = 0.02});
          auto const groups = group_leaves(cells, {.leaves_per_group = 5});
          auto out = outputs(), expected = outputs();
          starpu::near_field step{one_runtime(),
                                  k,
                                  groups,
                                  x.view(),
                                  q.view(),
                                  out.view(),
                                  {.form = pair_form::one_sided}};
          for (int time = 0; time < 2; ++time)
          {
            near_field(simd, k, cells, x.view(), q.view(), expected.view());
            step.submit();
            step.wait();
            expect_same(out, expected);
            for (double& value : x.memory[0]) value *= 1.01;
            ASSERT_FALSE(cells.update(coordinates_of<Dim>(x)));
            step.positions_changed();
          }
          if (k.erased().cutoff == 0) return;
          cell_list<double, Dim> const small(coordinates_of<Dim>(x), 0.9 * k.erased().cutoff);
          auto const of_small = group_leaves(small);
          EXPECT_THAT(((
                          [&]
                          {
                            starpu::near_field(one_runtime(), k, of_small, x.view(), q.view(),
                                               out.view());
                          })),
                      complains_of("the cutoff of the interaction", "cells"));
        });
  }

  TEST_P(tasks_of, steps_over_points_that_are_handles)
  {
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          tree_options<Dim> const options{.max_leaf_size = 20};
          auto const tree = build_tree(coordinates_of<Dim>(x), options);
          auto out = outputs(), expected = outputs();
          near_field(simd, k, tree, x.view(), q.view(), expected.view());
          {
            auto const hx = handles_of(x), hq = handles_of(q), hout = handles_of(out);
            starpu::moving_tree<double, Dim> const moving(one_runtime(), hx, options);
            starpu::near_field step{
                one_runtime(), k, moving, hq, hout, {.form = pair_form::one_sided}};
            step.submit();
            step.wait();
          }
          expect_same(out, expected);
        });
  }

  TEST_P(tasks_of, tasks_on_handles)
  {
    auto out = outputs(), expected = outputs();
    columns y_out(2 * info().n_out, n_sources, [](int) { return 0.5; }),
        y_expected(2 * info().n_out, n_sources, [](int) { return 0.5; });
    if (info().has_mutual)
    {
      p2p_inner_mutual(simd, k, x.view(), q.view(), expected.view());
      p2p_outer_mutual(simd, k, x.view(), y.view(), q.view(), y_q.view(), expected.view(),
                       y_expected.view());
    }
    else
      p2p_inner(simd, k, x.view(), q.view(), expected.view());
    p2p_outer(simd, k, x.view(), y.view(), y_q.view(), expected.view());
    {
      auto const hx = handles_of(x), hy = handles_of(y), hq = handles_of(q), hy_q = handles_of(y_q),
                 hout = handles_of(out), hy_out = handles_of(y_out);
      starpu::box_handles const box{.x = hx, .q = hq, .out = hout},
          other{.x = hy, .q = hy_q, .out = hy_out};
      starpu::p2p<any_interaction, double> p2p(
          k, {.backend = is_on_gpus() ? starpu::backend_set(cuda) : starpu::backend_set(simd)});
      p2p.insert_inner(box);
      p2p.wait(); // so that terms are added in this order
      if (info().has_mutual)
        p2p.insert_outer_mutual(box, other);
      else
        EXPECT_THAT([&] { p2p.insert_outer_mutual(box, other); },
                    complains_of(std::string(info().name), "no mutual form"));
      p2p.wait();
      p2p.insert_outer({.x = hx, .out = hout}, {.x = hy, .q = hy_q});
      p2p.wait();
    }
    expect_same(out, expected);
    expect_same(y_out, y_expected);
  }

  TEST_P(tasks_of, refuse_other_columns_and_dimensions)
  {
    std::string const name(info().name);
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const tree = build_tree(coordinates_of<Dim>(x));
          auto const groups = group_leaves(tree);
          auto out = outputs(), fewer = outputs(1);
          auto const wider = values<double>(9, n, random);
          EXPECT_THAT(((
                          [&]
                          {
                            starpu::near_field(one_runtime(), k, groups, wider.view(), q.view(),
                                               out.view());
                          })),
                      complains_of(name, "columns of points"));
          EXPECT_THAT(((
                          [&]
                          {
                            starpu::near_field(one_runtime(), k, groups, x.view(), q.view(),
                                               fewer.view());
                          })),
                      complains_of(name, "of outputs; give"));
          constexpr int other = 5 - Dim;
          auto const other_tree = build_tree(coordinates_of<other>(wider));
          auto const other_groups = group_leaves(other_tree);
          EXPECT_THAT(((
                          [&]
                          {
                            starpu::near_field(one_runtime(), k, other_groups, x.view(), q.view(),
                                               out.view());
                          })),
                      complains_of(name, std::to_string(Dim) + "D", std::to_string(other) + "D"));
          EXPECT_EQ(out.memory, outputs().memory);
        });
  }

  TEST(starpu_any_interaction, has_the_codelets_of_the_struct)
  {
    gaussian<3> const k{.sigma = 0.1};
    starpu::p2p<gaussian<3>, float> of_struct(k);
    starpu::p2p<any_interaction, float> by_name(any_interaction("gaussian", 3, {{"sigma", 0.1}}));
    EXPECT_EQ(of_struct.inner(), by_name.inner());
    EXPECT_EQ(of_struct.outer_mutual(), by_name.outer_mutual());
  }
}
