// Shares for given rates: what the GPUs and CPU workers of a step get, without any of them.

#include "kernels/src/p2p/plan.hpp"
#include "points.hpp"
#include "runtime/src/shares.hpp"

#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using nearfield::detail::cpu_share;
  using nearfield::detail::share_leaves;
  using nearfield::detail::share_of_cpus;
  using nearfield::detail::step_size;
  using nearfield::detail::step_workers;

  /// 14 cores that are worth c GPUs of 3e12 pairs a second altogether.
  step_workers beside_an_h100(double c, int gpus = 1)
  {
    return {14, c * gpus * 3e12 / 14, gpus, 3e12};
  }

  /// Workers whose CPUs are 14 of 1e10 pairs a second.
  step_workers beside_a_slow_gpu(double c)
  {
    return {14, 1e10, 1, 14e10 / c};
  }

  /// The rate at which a step of these shares ends, over the sum of both.
  double part_of_both_rates(double cpu_share, step_workers const& w)
  {
    double const cpu = w.cpus * w.cpu_rate, gpu = w.gpus * w.gpu_rate;
    return 1 / (std::max(cpu_share / cpu, (1 - cpu_share) / gpu) * (cpu + gpu));
  }

  constexpr step_size uniform_64x64x64{2.8e10, 16.8e6, 8}; // 64 points a leaf
  constexpr step_size uniform_32x32x32{3.4e9, 2.1e6, 8};
  constexpr step_size plummer_8e6{5.4e9, 8e6, 8};

  TEST(share_of_cpus, is_in_proportion_to_the_rates)
  {
    for (double const c : {0.6, 1., 6., 20.})
    {
      auto const w = beside_a_slow_gpu(c);
      cpu_share const share = share_of_cpus(uniform_64x64x64, w);
      EXPECT_NEAR(share.pairs, c / (1 + c), 0.05) << c;
      EXPECT_GT(part_of_both_rates(share.pairs, w), 0.9) << c;
      EXPECT_GE(share.large_groups, 2) << "at least two groups a core";
      EXPECT_EQ(share.small_groups, 2);
    }
  }

  TEST(share_of_cpus, never_lets_a_fast_gpu_wait_where_rates_are_a_quarter_wrong)
  {
    for (double const c : {0.01, 0.03, 0.05, 0.1})
    {
      auto const w = beside_an_h100(c);
      double const share = share_of_cpus(uniform_64x64x64, w).pairs;
      if (share == 0) continue;
      EXPECT_LT(share / (0.75 * c), 1 - share) << c << ": slower than thought";
      EXPECT_GT(1 / (1 - share), 1 + 0.6 * c) << c;
    }
    EXPECT_GT(share_of_cpus(uniform_64x64x64, beside_an_h100(0.03)).pairs, 0);
    step_workers const in_f64_with_gradients{14, 0.012 * 7e11 / 14, 1, 7e11};
    EXPECT_GT(share_of_cpus(uniform_64x64x64, in_f64_with_gradients).pairs, 0)
        << "0.3 ms of 40, though less than a hundredth";
    EXPECT_GT(share_of_cpus({2.8e10, 16.8e6, 16}, {29, 6.6e9, 2, 3e12}).pairs, 0)
        << "0.08 ms of 4.6";
  }

  TEST(share_of_cpus, knows_that_a_gpu_drains_at_the_end)
  {
    for (double const c : {0.6, 1., 6.})
    {
      auto w = beside_a_slow_gpu(c);
      double const without = share_of_cpus(uniform_32x32x32, w).pairs;
      w.targets_at_once = 131072;
      double const share = share_of_cpus(uniform_32x32x32, w).pairs;
      EXPECT_GT(share, without) << c;
      double const pairs = uniform_32x32x32.pairs, cpu = w.cpus * w.cpu_rate;
      double const tail = w.targets_at_once / uniform_32x32x32.targets;
      double const seconds = pairs * std::max(share / cpu, (1 - share + tail) / w.gpu_rate);
      EXPECT_GT(pairs / seconds, 0.87 * (cpu + w.gpu_rate)) << c;
    }
    step_workers w{8, 1e10, 1, 3e11, 131072};
    EXPECT_EQ(share_of_cpus({1e7, 6000, 1}, w).pairs, 1) << "a handful of its targets";
    w.targets_at_once = 0;
    EXPECT_EQ(share_of_cpus({1e7, 6000, 1}, w).pairs, 0);
  }

  TEST(share_of_cpus, is_nothing_where_it_does_not_pay)
  {
    EXPECT_EQ(share_of_cpus(uniform_32x32x32, beside_an_h100(0.03)).pairs, 0);
    EXPECT_EQ(share_of_cpus(uniform_32x32x32, beside_an_h100(0.06)).pairs, 0);
    EXPECT_EQ(share_of_cpus(plummer_8e6, beside_an_h100(0.03)).pairs, 0);
    EXPECT_EQ(share_of_cpus({1e6, 600, 1}, beside_an_h100(0.03)).pairs, 0) << "a tiny step";
    EXPECT_EQ(share_of_cpus({0, 600, 1}, beside_an_h100(1)).pairs, 0) << "no pairs";
    EXPECT_EQ(share_of_cpus(uniform_64x64x64, {0, 1e10, 1, 3e12}).pairs, 0) << "no CPU workers";
    auto w = beside_an_h100(0.03);
    w.least_gain = 0.25;
    EXPECT_EQ(share_of_cpus(uniform_64x64x64, w).pairs, 0) << "CPU workers deliver last";
    w = beside_a_slow_gpu(1);
    w.least_gain = 0.25;
    EXPECT_GT(share_of_cpus(uniform_64x64x64, w).pairs, 0.4);
  }

  TEST(share_of_cpus, is_all_where_a_gpu_does_not_pay)
  {
    EXPECT_EQ(share_of_cpus(uniform_64x64x64, {14, 1e10, 0, 3e12}).pairs, 1) << "no GPU";
    EXPECT_EQ(share_of_cpus(uniform_64x64x64, {14, 1e10, 1, 0}).pairs, 1);
    EXPECT_EQ(share_of_cpus({1e7, 6000, 1}, beside_a_slow_gpu(20)).pairs, 1) << "a tiny step";
  }

  TEST(share_of_cpus, counts_all_gpus)
  {
    auto const one = share_of_cpus(uniform_64x64x64, beside_a_slow_gpu(1));
    auto two_gpus = beside_a_slow_gpu(1);
    two_gpus.gpus = 2;
    auto const two = share_of_cpus({2.8e10, 16.8e6, 16}, two_gpus);
    EXPECT_NEAR(one.pairs, 0.5, 0.02);
    EXPECT_NEAR(two.pairs, 1 / 3., 0.03);
    EXPECT_GT(part_of_both_rates(two.pairs, two_gpus), 0.9);
  }

  TEST(share_of_cpus, a_group_takes_about_a_millisecond_of_a_core)
  {
    auto const short_step = share_of_cpus({3e9, 2e6, 8}, beside_a_slow_gpu(1));
    auto const long_step = share_of_cpus({1e12, 6e8, 8}, beside_a_slow_gpu(1));
    double const seconds = short_step.pairs * 3e9 / 14e10;
    EXPECT_NEAR(short_step.large_groups + 0.5 * short_step.small_groups, seconds / 1e-3, 1);
    EXPECT_EQ(long_step.large_groups, 15) << "but not for ever more";
  }

  struct leaves_for_gpus
  {
    points<float, 3> x;
    tree<3> leaves;
    leaf_groups<3> groups;

    explicit leaves_for_gpus(cloud shape, int gpus = 1, std::size_t n = 60'000)
        : x(make_points<float, 3>(shape, n)), leaves(build_tree(x.view(), {.max_leaf_size = 16})),
          groups(group_leaves(leaves, {.gpus = gpus, .groups_per_gpu = 8}))
    {}
    [[nodiscard]] double pairs() const { return static_cast<double>(leaves.interaction_count()); }
  };

  constexpr pair_form forms_of_tasks[] = {pair_form::one_sided, pair_form::mutual};

  nearfield::detail::step_plan plan(nearfield::detail::leaf_groups_view const& groups,
                                    pair_form form)
  {
    return (form == pair_form::mutual ? nearfield::detail::plan_mutual
                                      : nearfield::detail::plan_gather)(groups, true, 16, nullptr);
  }

  /// Rates with which a step takes a second.
  step_workers workers_for(double pairs, double c, int gpus = 1)
  {
    return {3, pairs * c / (1 + c) / 3, gpus, pairs / (1 + c) / gpus};
  }

  TEST(cut_for_form, groups_have_equal_numbers_of_pairs_of_the_form)
  {
    auto const imbalance = [](nearfield::detail::leaf_groups_view const& groups, pair_form form)
    {
      double largest = 0, all = 0;
      auto const planned = plan(groups, form);
      for (auto const& group : planned.groups)
      {
        largest = std::max(largest, group.interactions);
        all += group.interactions;
      }
      return largest / (all / static_cast<double>(planned.groups.size()));
    };
    for (cloud const shape : {cloud::uniform, cloud::plummer})
    {
      leaves_for_gpus const given(shape);
      auto view = given.groups.view();
      EXPECT_GT(imbalance(view, pair_form::mutual), 1.05) << "cut by one-sided pairs";
      auto const cut = nearfield::detail::cut_for_form(view, pair_form::mutual);
      ASSERT_EQ(cut.size(), view.first_leaf.size());
      view.first_leaf = cut;
      EXPECT_LT(imbalance(view, pair_form::mutual), 1.01);
    }
  }

  TEST(share_leaves, groups_have_the_pairs_of_their_kind)
  {
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::planar})
      for (pair_form const form : forms_of_tasks)
        for (int const gpus : {1, 2})
          for (double const c : {0.03, 1., 20.})
          {
            SCOPED_TRACE(std::string(name_of(shape)) + ", c = " + std::to_string(c));
            leaves_for_gpus const given(shape, gpus);
            auto view = given.groups.view();
            auto const workers = workers_for(given.pairs(), c, gpus);
            auto const shared = share_leaves(view, form, 1, workers);
            view.first_leaf = shared.first_leaf;
            view.first_cpu_leaf = shared.first_cpu_leaf;
            auto const planned = plan(view, form);

            double of_gpus = 0, of_cpus = 0, largest = 0;
            std::size_t gpu_groups = 0, targets = 0;
            for (auto const& group : planned.groups)
            {
              EXPECT_EQ(group.targets.begin, targets) << "consecutive leaves";
              targets += group.targets.size();
              (group.is_for_gpus ? of_gpus : of_cpus) += group.interactions;
              gpu_groups += group.is_for_gpus;
              if (!group.is_for_gpus) largest = std::max(largest, group.interactions);
              EXPECT_EQ(group.head.n_items > 0, group.is_for_gpus);
            }
            EXPECT_EQ(targets, given.x.size());
            EXPECT_NEAR(of_cpus / (of_cpus + of_gpus), c / (1 + c), 0.3 * std::min(1., c) / (1 + c))
                << "of all pairs";
            EXPECT_LE(gpu_groups, given.groups.size());
            EXPECT_GE(gpu_groups, 2u * static_cast<std::size_t>(gpus));
            EXPECT_GE(planned.groups.size() - gpu_groups, 2u * 3u) << "two groups a core";
            EXPECT_LT(largest, of_cpus / 3 / 2) << "small enough to end together";
            for (std::size_t g = 0; g < planned.groups.size(); ++g)
              EXPECT_EQ(planned.groups[planned.by_priority[g]].is_for_gpus, g < gpu_groups)
                  << "those of GPUs are submitted first";
          }
  }

  TEST(share_leaves, each_of_several_gpus_has_as_many_groups)
  {
    leaves_for_gpus const given(cloud::uniform, 2);
    auto view = given.groups.view();
    auto const gpu_groups = [&](double c)
    {
      auto const shared =
          share_leaves(view, pair_form::one_sided, 1, workers_for(given.pairs(), c, 2));
      return std::ranges::find(shared.first_leaf, shared.first_cpu_leaf) -
             shared.first_leaf.begin();
    };
    for (double const c : {0.1, 0.3, 0.7, 1.5, 4.}) EXPECT_EQ(gpu_groups(c) % 2, 0) << c;
    EXPECT_EQ(gpu_groups(0.3), 14) << "not 13 of 16";
  }

  TEST(share_leaves, groups_stay_as_they_are_where_cpus_get_nothing)
  {
    leaves_for_gpus const given(cloud::uniform);
    for (pair_form const form : forms_of_tasks)
    {
      auto const shared = share_leaves(given.groups.view(), form, 1, beside_an_h100(0.03));
      EXPECT_TRUE(std::ranges::equal(shared.first_leaf, given.groups.first_leaf()));
      EXPECT_EQ(shared.first_cpu_leaf, given.leaves.size());
    }
  }

  TEST(share_leaves, no_group_is_for_gpus_where_those_get_nothing)
  {
    leaves_for_gpus const given(cloud::uniform);
    auto const shared = share_leaves(given.groups.view(), pair_form::one_sided, 1,
                                     {3, given.pairs(), 1, given.pairs() / 1e6});
    EXPECT_EQ(shared.first_cpu_leaf, 0u);
    EXPECT_EQ(shared.first_leaf.back(), given.leaves.size());
  }

  TEST(share_leaves, a_step_of_several_right_hand_sides_is_as_much_longer)
  {
    leaves_for_gpus const given(cloud::uniform);
    auto const workers = workers_for(given.pairs() * 500, 0.03); // 2 ms for one
    auto const cpu_leaf = [&](int n_rhs)
    {
      return share_leaves(given.groups.view(), pair_form::one_sided, n_rhs, workers).first_cpu_leaf;
    };
    EXPECT_EQ(cpu_leaf(1), given.leaves.size());
    EXPECT_LT(cpu_leaf(8), given.leaves.size());
  }

  TEST(share_leaves, few_leaves_and_many_workers_leave_no_empty_group)
  {
    leaves_for_gpus const given(cloud::uniform, 1, 300);
    auto const shared = share_leaves(given.groups.view(), pair_form::one_sided, 1,
                                     {64, given.pairs() / 64, 1, given.pairs()});
    EXPECT_TRUE(std::ranges::is_sorted(shared.first_leaf));
    EXPECT_EQ(std::ranges::adjacent_find(shared.first_leaf), shared.first_leaf.end());
    EXPECT_EQ(shared.first_leaf.back(), given.leaves.size());
  }

  TEST(place_groups, each_of_several_gpus_has_neighbours_of_its_own_and_the_first_early)
  {
    nearfield::detail::task_plan plan;
    plan.inner.resize(7);
    plan.border.resize(7);
    for (std::size_t g = 0; g < 7; ++g)
      (g == 3 ? plan.border : plan.inner)[g].emplace().is_for_gpus = g < 6;
    plan.by_priority = {5, 4, 3, 2, 1, 0, 6};
    using groups = std::vector<std::size_t>;
    using workers = std::vector<int>;
    auto const alone = place_groups(plan, {{0, {8, 9}}});
    EXPECT_EQ(alone.order, plan.by_priority);
    EXPECT_EQ(alone.worker, workers(7, -1));
    auto const on_two = place_groups(plan, {{0, {8, 9}}, {1, {10, 11}}});
    EXPECT_EQ(on_two.order, (groups{3, 0, 4, 1, 5, 2, 6}));
    EXPECT_EQ(on_two.worker, (workers{8, 9, 8, 10, 11, 10, -1}));
    EXPECT_EQ(on_two.gpu, (groups{0, 0, 0, 1, 1, 1, 1})) << "the last one is for CPU workers";
    auto const on_four = place_groups(plan, {{0, {8}}, {1, {9}}, {2, {10}}, {3, {11}}});
    EXPECT_EQ(on_four.worker, (workers{8, 9, 9, 10, 11, 11, -1}));
    plan.by_priority.clear();
    EXPECT_EQ(place_groups(plan, {}).order, (groups{0, 1, 2, 3, 4, 5, 6}));
  }
}
