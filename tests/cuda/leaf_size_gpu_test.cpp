// Costs of pairs on a GPU, and the leaf sizes chosen for points there.

#include "points.hpp"
#include "tree/same_tree.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace nearfield::test
{
  namespace
  {
    template <class T, class K>
    void expect_cost(K const& k)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual, pair_form::automatic})
      {
        auto const cost = pair_cost_of<T>(cuda, k, form);
        EXPECT_EQ(cost.from(), pair_cost::origin::measured);
        EXPECT_EQ(cost.samples().back().targets, 256);
        // other programs may use the GPU, so that rates say little
        EXPECT_GT(cost(256, 4096), 0) << K::name;
        EXPECT_LT(cost(256, 4096), 1e-3) << K::name;
        EXPECT_EQ(pair_cost_of<T>(cuda, k, form)(64, 1000), cost(64, 1000)); // known by now
      }
    }

    TEST(pair_cost_on_gpu, is_measured_for_each_form)
    {
      expect_cost<float>(one_over_r<>{});
      expect_cost<double>(val_grad_one_over_r<>{});
      expect_cost<float>(log_r{});
    }

    TEST(leaf_size_on_gpu, is_that_of_the_cpu)
    {
      auto const x = make_points<float, 3>(cloud::plummer, 20000);
      auto const y = make_points<float, 3>(cloud::uniform, 5000);
      device_columns<float, 3> const on_device(x.view()), sources(y.view());
      leaf_costs const costs{.near_field = [](double targets, double met)
                             { return 1e-10 * (targets + 7) * met; },
                             .seconds_per_leaf = 3e-6};
      auto const choice = choose_leaf_size(cuda, on_device.view(), costs);
      auto const expected = choose_leaf_size(simd, x.view(), costs);
      EXPECT_EQ(choice.max_leaf_size, expected.max_leaf_size);
      ASSERT_EQ(choice.tried.size(), expected.tried.size());
      for (std::size_t s = 0; s < choice.tried.size(); ++s)
        EXPECT_EQ(choice.tried[s].pairs, expected.tried[s].pairs);
      expect_same_tree(
          build_tree(cuda, on_device.view(), {.max_leaf_size = automatic, .costs = &costs})
              .on_host(),
          build_tree(x.view(), {.max_leaf_size = automatic, .costs = &costs}));
      EXPECT_EQ(choose_leaf_size(cuda, on_device.view(), sources.view(), costs).max_leaf_size,
                choose_leaf_size(simd, x.view(), y.view(), costs).max_leaf_size);
    }

    // its own costs are gone then
    TEST(leaf_size_on_gpu, stays_when_a_tree_is_rebuilt)
    {
      auto const x = make_points<float, 3>(cloud::uniform, 20000);
      device_columns<float, 3> const on_device(x.view());
      auto tree = [&]
      {
        leaf_costs const costs{.near_field = [](double targets, double met)
                               { return 1e-10 * (targets + 7) * met; },
                               .seconds_per_leaf = 3e-6};
        return build_tree(cuda, on_device.view(), {.max_leaf_size = automatic, .costs = &costs});
      }();
      auto const before = tree.size();
      tree.rebuild(on_device.view());
      EXPECT_EQ(tree.size(), before);
    }
  }
}
