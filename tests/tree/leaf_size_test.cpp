#include <nearfield/tree/leaf_size.hpp>

#include "complains_of.hpp"
#include "points.hpp"
#include "same_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nearfield::test
{
  namespace
  {
    using candidate = leaf_costs::choice::candidate;

    /// Seconds like those of a core: 1e-10 a pair, 7e-10 a source.
    double near(double targets, double sources)
    {
      return 1e-10 * (targets + 7) * sources;
    }

    /// The choice where leaves of `size` points fill n, with these seconds of each leaf.
    int choice_of(std::size_t n, double far)
    {
      leaf_costs const costs{.near_field = near, .seconds_per_leaf = far};
      return detail::choose_leaf_size(costs, n,
                                      [&](int size)
                                      {
                                        double const leaves = double(n) / size;
                                        return candidate{.leaves = leaves,
                                                         .pairs = leaves * size * 27 * size,
                                                         .near_seconds =
                                                             leaves * near(size, 27. * size),
                                                         .far_seconds = leaves * far};
                                      })
          .max_leaf_size;
    }

    // near + far = n (2.7e-9 (s + 7) + far / s) is least at s = sqrt(far / 2.7e-9)
    TEST(choose_leaf_size, finds_the_least_total)
    {
      for (double const best : {4., 16., 64., 256., 1024., 4096., 32768.})
        EXPECT_EQ(choice_of(1 << 20, 2.7e-9 * best * best), best);
      EXPECT_EQ(choice_of(1 << 20, 2.7e-9), 4); // the smallest that is tried
      EXPECT_EQ(choice_of(1000, 1), 1024);      // one leaf
    }

    TEST(choose_leaf_size, is_not_stopped_by_sizes_that_give_one_tree)
    {
      leaf_costs const costs{.near_field = near, .seconds_per_leaf = 1e-9};
      auto const choice = detail::choose_leaf_size(
          costs, 1 << 20,
          [](int size)
          {
            int const level = static_cast<int>(std::log2(size)) / 3; // the same for 8 sizes
            return candidate{.leaves = 1, .pairs = 1, .near_seconds = std::pow(2., level)};
          });
      EXPECT_LT(choice.max_leaf_size, 8);
    }

    TEST(choose_leaf_size, takes_the_middle_of_sizes_that_give_the_best_tree)
    {
      leaf_costs const costs{.near_field = near, .seconds_per_leaf = 1e-9};
      auto const choice = detail::choose_leaf_size(
          costs, 1 << 20,
          [](int size)
          {
            bool const is_best = size >= 64 && size < 256; // 64, 91, 128 and 181
            return candidate{.leaves = 1, .pairs = 1, .near_seconds = is_best ? 1. : 1.25};
          });
      EXPECT_EQ(choice.max_leaf_size, 128);
    }

    // (s + 7) / s <= 1.25 from 28 on, or a little less: 1024 points are not at the best rate either
    TEST(choose_leaf_size, without_a_far_field_takes_the_first_good_rate)
    {
      EXPECT_EQ(choice_of(1 << 20, 0), 32);
    }

    TEST(choose_leaf_size, refuses_costs_that_are_none)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 100);
      double const nan = std::numeric_limits<double>::quiet_NaN();
      auto const choosing = [&](leaf_costs const& costs)
      {
        return [&x, costs]
        {
          static_cast<void>(choose_leaf_size(simd, x.view(), costs));
        };
      };
      for (double const wrong : {-1., nan, std::numeric_limits<double>::infinity()})
      {
        EXPECT_THAT(choosing({.near_field = near, .seconds_per_leaf = wrong}),
                    complains_of("leaf_costs", "seconds_per_leaf", "give"));
        EXPECT_THAT(choosing({.near_field =
                                  [=](double, double)
                              {
                                return wrong;
                              }}),
                    complains_of("leaf_costs", "near_field(", "give"));
        EXPECT_THAT(choosing({.near_field = near,
                              .far_field =
                                  [=](int, index_type)
                              {
                                return wrong;
                              }}),
                    complains_of("leaf_costs", "far_field(", "give"));
      }
      EXPECT_THAT(choosing({.seconds_per_leaf = 1}), complains_of("near_field too"));
    }

    template <int Dim>
    void expect_costs_of_trees(cloud shape, tree_options<Dim> const& how = {})
    {
      auto x = make_points<double, Dim>(shape, 3000);
      for (auto& column : x.columns)
        for (double& value : column) value -= std::floor(value); // into a periodic box
      auto const with = [&](int size)
      {
        auto options = how;
        options.max_leaf_size = size;
        return options;
      };
      leaf_costs const costs{.near_field = near,
                             .seconds_per_leaf = 1e-7,
                             .far_field = [](int level, index_type n)
                             {
                               return 1e-8 * level + 1e-9 * n;
                             }};
      auto const choice = choose_leaf_size(simd, x.view(), costs, how);
      for (candidate const& tried : choice.tried)
      {
        auto const exact =
            detail::cost_of_leaves(costs, build_tree(x.view(), with(tried.max_leaf_size)));
        EXPECT_EQ(tried.leaves, exact.leaves);
        EXPECT_EQ(tried.pairs, exact.pairs);
        EXPECT_NEAR(tried.near_seconds, exact.near_seconds, 1e-9 * exact.near_seconds);
        EXPECT_NEAR(tried.far_seconds, exact.far_seconds, 1e-9 * exact.far_seconds);
        EXPECT_GE(tried.seconds() * (1 + 1e-9),
                  std::ranges::find(choice.tried, choice.max_leaf_size, &candidate::max_leaf_size)
                      ->seconds());
      }
      auto automatically = with(automatic);
      automatically.costs = &costs;
      expect_same_tree(build_tree(x.view(), automatically),
                       build_tree(x.view(), with(choice.max_leaf_size)));
    }

    TEST(choose_leaf_size, knows_what_the_leaves_of_trees_cost)
    {
      for (cloud const shape : {cloud::uniform, cloud::plummer})
      {
        expect_costs_of_trees<2>(shape);
        expect_costs_of_trees<3>(shape);
        expect_costs_of_trees<2>(shape, {.period = {1, 0}});
        expect_costs_of_trees<3>(shape, {.period = {1, 1, 1}});
      }
    }

    TEST(choose_leaf_size, comes_close_from_a_sample_of_many_leaves)
    {
      auto const x = make_points<float, 3>(cloud::plummer, 200000);
      leaf_costs const costs{.near_field = near, .seconds_per_leaf = 3e-8};
      auto const choice = choose_leaf_size(simd, x.view(), costs);
      ASSERT_GT(choice.tried.front().leaves, 20000);
      for (candidate const& tried : choice.tried)
      {
        auto const exact = detail::cost_of_leaves(
            costs, build_tree(x.view(), {.max_leaf_size = tried.max_leaf_size}));
        EXPECT_NEAR(tried.seconds(), exact.seconds(), 0.05 * exact.seconds());
      }
    }

    TEST(choose_leaf_size, counts_sources_in_the_far_field_too)
    {
      auto const x = make_points<double, 3>(cloud::uniform, 10, 1);
      auto const y = make_points<double, 3>(cloud::uniform, 10'000, 2);
      leaf_costs const costs{.near_field = near,
                             .far_field = [](int, index_type n)
                             {
                               return 1e-9 * n;
                             }};
      for (candidate const& tried : choose_leaf_size(simd, x.view(), y.view(), costs).tried)
      {
        auto const leaves = build_tree(x.view(), y.view(), {.max_leaf_size = tried.max_leaf_size});
        EXPECT_NEAR(tried.far_seconds, 1e-9 * 10'010, 1e-12);
        EXPECT_NEAR(detail::cost_of_leaves(costs, leaves).far_seconds, 1e-9 * 10'010, 1e-12);
      }
    }

    TEST(choose_leaf_size, takes_two_sets_and_none)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 500, 1);
      auto const y = make_points<float, 3>(cloud::plummer, 2000, 2);
      leaf_costs const costs{.near_field = near, .seconds_per_leaf = 1e-6};
      auto const choice = choose_leaf_size(simd, x.view(), y.view(), costs);
      expect_same_tree(
          build_tree(x.view(), y.view(), {.max_leaf_size = automatic, .costs = &costs}),
          build_tree(x.view(), y.view(), {.max_leaf_size = choice.max_leaf_size}));
      points<float, 3> const none;
      EXPECT_TRUE(choose_leaf_size(simd, none.view(), costs).tried.empty());
      EXPECT_EQ(build_tree(none.view(), {.max_leaf_size = automatic}).size(), 0u);
    }

    TEST(choose_leaf_size, of_sets_that_do_not_meet_is_the_default)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 5000, 1);
      auto far = make_points<float, 3>(cloud::uniform, 5000, 2);
      for (float& value : far.columns[0]) value += 100;
      points<float, 3> const none;
      for (auto const& choice : {choose_leaf_size(simd, x.view(), far.view(), {}),
                                 choose_leaf_size(simd, x.view(), none.view(), {}),
                                 choose_leaf_size(simd, none.view(), x.view(), {})})
        EXPECT_EQ(choice.max_leaf_size, tree_options<3>().max_leaf_size);
    }

    TEST(choose_leaf_size, needs_no_costs)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 20000);
      auto const choice = choose_leaf_size(simd, x.view(), {});
      EXPECT_GT(choice.max_leaf_size, 4);
      expect_same_tree(build_tree(x.view(), {.max_leaf_size = automatic}),
                       build_tree(x.view(), {.max_leaf_size = choice.max_leaf_size}));
    }

    TEST(choose_leaf_size, looks_at_no_options_of_the_cut)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 20000);
      int const size = choose_leaf_size(simd, x.view(), {}).max_leaf_size;
      ASSERT_NE(size, tree_options<3>().max_leaf_size);
      for (tree_options<3> const& options : {tree_options<3>{.level = 3},
                                             {.level = 3, .order = leaf_order::row_major},
                                             {.order = leaf_order::row_major},
                                             {.max_leaf_size = 3}})
        EXPECT_EQ(choose_leaf_size(simd, x.view(), {}, options).max_leaf_size, size);
    }
  }
}
