#include "any_interactions.hpp"
#include "complains_of.hpp"

#include <nearfield/p2p/leaf.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

// Every built-in interaction by its name, so that a further one costs no compilation here.

namespace nearfield::test
{
  namespace
  {
    /// f.operator()<T>(place) in both precisions on every instruction set.
    template <class F>
    void everywhere(F const& f)
    {
      for (isa const which : available_isas())
      {
        SCOPED_TRACE(std::string(name_of(which)));
        f.template operator()<float>(simd_backend{which});
        f.template operator()<double>(simd_backend{which});
      }
    }

    INSTANTIATE_TEST_SUITE_P(all, every_interaction, ::testing::ValuesIn(built_interactions()),
                             &name_of_interaction);
  }

  TEST_P(every_interaction, sums_over_all_pairs_of_one_set)
  {
    auto const k = example();
    everywhere(
        [&]<class T>(simd_backend where)
        {
          for (std::size_t const n : {7, 40})
          {
            random_numbers random(n);
            auto const x = points_of<T>(k, n, random);
            auto const q = values<T>(info().n_in, n, random);
            run_time_set<T> out(info().n_out, n, [](int) { return 0.5; }),
                mutual(info().n_out, n, [](int) { return 0.5; });
            p2p_inner(where, k, x.view(), q.view(), out.view());
            expect_sums(k, x, x, q, out, true, T(0.5));
            if (!info().has_mutual) continue;
            p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
            expect_sums(k, x, x, q, mutual, true, T(0.5));
          }
        });
  }

  TEST_P(every_interaction, sums_over_two_sets_and_back)
  {
    auto const k = example();
    everywhere(
        [&]<class T>(simd_backend where)
        {
          for (std::size_t const n : {5, 30})
          {
            random_numbers random(n);
            auto const x = points_of<T>(k, n, random), y = points_of<T>(k, n + 4, random);
            auto const x_q = values<T>(info().n_in, n, random),
                       y_q = values<T>(info().n_in, n + 4, random);
            run_time_set<T> out(info().n_out, n, [](int) { return 0; });
            p2p_outer(where, k, x.view(), y.view(), y_q.view(), out.view());
            expect_sums(k, x, y, y_q, out, false, T(0));
            if (!info().has_mutual) continue;
            run_time_set<T> x_out(info().n_out, n, [](int) { return 0; }),
                y_out(info().n_out, n + 4, [](int) { return 0; });
            p2p_outer_mutual(where, k, x.view(), y.view(), x_q.view(), y_q.view(), x_out.view(),
                             y_out.view());
            expect_sums(k, x, y, y_q, x_out, false, T(0));
            expect_sums(k, y, x, x_q, y_out, false, T(0));
          }
        });
  }

  TEST_P(every_interaction, sums_of_several_right_hand_sides)
  {
    auto const k = example();
    everywhere(
        [&]<class T>(simd_backend where)
        {
          constexpr int n_rhs = 3;
          constexpr std::size_t n = 30;
          random_numbers random(3);
          auto const x = points_of<T>(k, n, random);
          auto const q = values<T>(n_rhs * info().n_in, n, random);
          run_time_set<T> out(n_rhs * info().n_out, n, [](int) { return 0; }),
              mutual(n_rhs * info().n_out, n, [](int) { return 0; });
          p2p_inner(where, k, x.view(), q.view(), out.view());
          expect_sums(k, x, x, q, out, true, T(0));
          if (!info().has_mutual) return;
          p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
          expect_sums(k, x, x, q, mutual, true, T(0));
        });
  }

  TEST_P(every_interaction, sums_over_a_tree_and_over_leaves)
  {
    auto const k = example();
    auto const in_dim = [&]<int Dim>(std::integral_constant<int, Dim>)
    {
      constexpr std::size_t n = 60;
      random_numbers random(4);
      auto const x = points_of<double>(k, n, random);
      auto const q = values<double>(info().n_in, n, random);
      std::array<double const*, Dim> coordinates;
      std::copy_n(x.pointers.begin(), Dim, coordinates.begin());
      // leaves that all touch
      auto const leaves =
          build_tree(simd, soa<double const, Dim>(coordinates, n), tree_options<Dim>{.level = 1});
      for (auto const form : {pair_form::one_sided, pair_form::automatic})
      {
        run_time_set<double> out(info().n_out, n, [](int) { return 1; });
        near_field(simd, k, leaves, x.view(), q.view(), out.view(), {.form = form});
        expect_sums(k, x, x, q, out, true, 0.);
      }
      run_time_set<double> out(info().n_out, n, [](int) { return 0; });
      std::vector<leaf<soa<double const, run_time_columns>, soa<double const, run_time_columns>>>
          none;
      p2p_leaf(simd, k, leaf(x.view(), q.view(), out.view()), none);
      expect_sums(k, x, x, q, out, true, 0.);

      constexpr int other = 5 - Dim;
      auto const wider = values<double>(other, n, random);
      std::array<double const*, other> columns;
      std::copy_n(wider.pointers.begin(), other, columns.begin());
      auto const other_leaves = build_tree(simd, soa<double const, other>(columns, n));
      EXPECT_THAT((([&] { near_field(simd, k, other_leaves, x.view(), q.view(), out.view()); })),
                  complains_of(std::string(info().name), std::to_string(Dim) + "D",
                               std::to_string(other) + "D"));
    };
    info().dim == 2 ? in_dim(std::integral_constant<int, 2>())
                    : in_dim(std::integral_constant<int, 3>());
  }

  TEST_P(every_interaction, refuses_parameters_out_of_their_range)
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (parameter_info const& each : info().parameters)
    {
      std::vector<double> bad{infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
      if (each.range != parameter_range::any) bad.push_back(-1e-300);
      if (each.range == parameter_range::positive) bad.push_back(0);
      for (double const value : bad)
        EXPECT_THAT((([&] { any_interaction(info().name, info().dim, {{each.name, value}}); })),
                    complains_of(std::string(info().name), std::string(each.name) + " is "));
    }
    EXPECT_THAT((([&] { any_interaction(info().name, info().dim, {{"nonsense", 1}}); })),
                complains_of("has no parameter 'nonsense'"));
  }

  TEST_P(every_interaction, refuses_columns_of_other_numbers)
  {
    auto const k = example();
    random_numbers random(1);
    constexpr std::size_t n = 3;
    auto const x = points_of<double>(k, n, random), wider = values<double>(9, n, random);
    auto const q = values<double>(info().n_in, n, random);
    run_time_set<double> out(info().n_out, n, [](int) { return 0; }),
        more(info().n_out + 1, n, [](int) { return 0; });
    std::string const name(info().name);
    EXPECT_THAT((([&] { p2p_inner(simd, k, wider.view(), q.view(), out.view()); })),
                complains_of(name, "columns of points"));
    EXPECT_THAT((([&] { p2p_inner(simd, k, x.view(), q.view(), more.view()); })),
                complains_of(name, "of outputs; give"));
    for (auto const& column : out.memory) EXPECT_EQ(column, std::vector<double>(n));
  }

  TEST(any_interaction, has_the_bits_and_the_cost_of_the_struct)
  {
    constexpr std::size_t n = 50;
    random_numbers random(5);
    gaussian<3> const k{.sigma = 0.1};
    any_interaction const by_name("gaussian", 3, {{"sigma", 0.1}}), of_struct = k;
    EXPECT_EQ(by_name.parameter(0), 0.1);
    auto const x = values<double>(3, n, random), q = values<double>(1, n, random);
    soa const points{x.memory[0], x.memory[1], x.memory[2]};
    std::vector<double> out(n), other(n), third(n);
    p2p_inner(simd, k, points, soa{q.memory[0]}, soa{out});
    p2p_inner(simd, by_name, points, soa{q.memory[0]}, soa{other});
    p2p_inner(simd, of_struct, x.view(), q.view(), soa{third});
    EXPECT_EQ(out, other);
    EXPECT_EQ(out, third);
    EXPECT_EQ(pair_cost_of<double>(simd, k)(64, 640), pair_cost_of<double>(simd, by_name)(64, 640));
    EXPECT_EQ(is_singular(any_interaction(r_over_r3<2>{})), true);
    EXPECT_EQ(is_singular(any_interaction(r_over_r3<2>{.eps = 1})), false);
  }

  TEST(any_interaction, refuses_what_the_build_leaves_out)
  {
    for (interaction_info const& info : interaction_infos())
    {
      if (info.is_built) continue;
      EXPECT_THAT(
          [&] { any_interaction(info.name, info.dim); },
          complains_of(std::string(info.name), "-DNEARFIELD_KERNELS", std::string(info.group)));
    }
  }

  TEST(any_interaction, refuses_parameters_whose_squares_leave_the_precision_of_the_columns)
  {
    any_interaction const k("gaussian", 3, {{"sigma", 1e-25}});
    auto const sum_in = [&]<class T>(T)
    {
      run_time_set<T> x(3, 2, [](int c) { return c; }), q(1, 2, [](int) { return 1; }),
          out(1, 2, [](int) { return 0; });
      p2p_inner(simd, k, x.view(), q.view(), out.view());
      return out.memory[0][0];
    };
    EXPECT_THAT((([&] { sum_in(1.f); })),
                complains_of("gaussian: sigma is 1e-25, whose square", "f32"));
    EXPECT_EQ(sum_in(1.), 1.); // both points are at one place
  }

  TEST(any_interaction, refuses_a_parameter_that_is_given_twice)
  {
    EXPECT_THAT((([] { any_interaction("gaussian", 3, {{"sigma", 1}, {"sigma", 2}}); })),
                complains_of("gaussian: parameter sigma is given twice"));
  }

  TEST(any_interaction, refuses_what_there_is_not)
  {
    EXPECT_THAT(([] { any_interaction("nonsense", 3); }),
                complains_of("there is no 'nonsense'; built in are one_over_r, "));
    EXPECT_THAT(([] { any_interaction("one_over_r", 4); }),
                complains_of("one_over_r does not exist in 4D", "2D, 3D"));
    EXPECT_THAT(([] { any_interaction(gaussian<2>{.sigma = 0}); }), complains_of("sigma is 0"));
  }

  TEST(interaction_infos, have_a_name_per_dimension_and_a_group)
  {
    std::set<std::pair<std::string, int>> names;
    for (interaction_info const& info : interaction_infos())
    {
      EXPECT_TRUE(names.emplace(info.name, info.dim).second) << info.name;
      EXPECT_FALSE(info.group.empty()) << info.name;
      for (parameter_info const& each : info.parameters)
        EXPECT_FALSE(each.name.empty() || each.unit.empty()) << info.name;
    }
  }
}
