#include "environment.hpp"
#include "points.hpp"
#include "runtime/src/fit_memory.hpp"

#include <nearfield/p2p/job.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using nearfield::detail::gpu_memory;
  using nearfield::detail::most_source_allocations;
  using nearfield::detail::plan_for_gpus;
  using nearfield::detail::planner;
  using nearfield::detail::point_bytes;
  using nearfield::detail::step_plan;
  using testing::AllOf;
  using testing::HasSubstr;

  constexpr planner both_forms[] = {&nearfield::detail::plan_gather,
                                    &nearfield::detail::plan_mutual};
  // a point as heavy as one of many right-hand sides, so that few points fill the memory
  constexpr point_bytes heavy{24, 1000, 0, 1000};
  constexpr double mebibyte = 1 << 20;

  struct cloud_in_groups
  {
    points<float, 3> x;
    tree<3> leaves;
    leaf_groups<3> groups;

    explicit cloud_in_groups(cloud shape)
        : x(make_points<float, 3>(shape, 60'000)),
          leaves(build_tree(x.view(), {.max_leaf_size = 16})),
          groups(group_leaves(leaves, {.gpus = 1, .groups_per_gpu = 8}))
    {}
  };

  double largest_task(step_plan const& plan)
  {
    double largest = 0;
    for (auto const& group : plan.groups)
      largest = std::max(largest, task_bytes(plan, group, heavy));
    return largest;
  }

  TEST(step_bytes, are_those_of_two_sets_of_inputs_and_of_all_else_once)
  {
    cloud_in_groups const c(cloud::uniform);
    auto const n = static_cast<double>(c.x.size());
    for (planner const plan : both_forms)
    {
      auto const whole = plan(c.groups.view(), true, nearfield::detail::default_chunks, nullptr);
      double of_groups = 0, halo = 0;
      for (auto const& group : whole.groups)
      {
        of_groups += static_cast<double>(group.list.size());
        halo += group.halo_size;
      }
      EXPECT_EQ(step_bytes(whole, {24, 1000, 7, 500}),
                n * (24 + 2 * 1000) + n * 7 + (n + halo) * 500 + of_groups);
    }
  }

  TEST(plan_for_gpus, leaves_the_groups_as_they_are_where_all_fits)
  {
    cloud_in_groups const c(cloud::plummer);
    for (planner const plan : both_forms)
      for (double const bytes : {0., 1e12}) // 0: no limit
      {
        auto const planned = plan_for_gpus(plan, c.groups.view(), heavy, {bytes, 4});
        EXPECT_EQ(planned.groups.size(), c.groups.size());
      }
  }

  TEST(plan_for_gpus, cuts_a_step_that_is_too_large_until_the_tasks_that_run_at_once_fit)
  {
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::planar})
    {
      cloud_in_groups const c(shape);
      for (planner const plan : both_forms)
      {
        gpu_memory const memory{150 * mebibyte, 4};
        auto const whole = plan(c.groups.view(), true, nearfield::detail::default_chunks, nullptr);
        ASSERT_GT(4 * largest_task(whole), memory.bytes) << "this test would show nothing";
        auto const planned = plan_for_gpus(plan, c.groups.view(), heavy, memory);
        EXPECT_LT(4 * largest_task(planned), memory.bytes) << name_of(shape);

        double pairs = 0, pairs_of_whole = 0;
        std::size_t targets = 0;
        for (auto const& group : whole.groups) pairs_of_whole += group.interactions;
        for (auto const& group : planned.groups)
        {
          EXPECT_EQ(group.targets.begin, targets);
          EXPECT_LE(group.source_chunks.size(), std::size_t(most_source_allocations));
          targets += group.targets.size();
          pairs += group.interactions;
        }
        EXPECT_EQ(targets, c.x.size());
        EXPECT_EQ(pairs, pairs_of_whole);
      }
    }
  }

  TEST(plan_for_gpus, leaves_the_groups_of_cpu_workers_as_they_are)
  {
    cloud_in_groups const c(cloud::uniform);
    auto view = c.groups.view();
    index_type const n = view.first_leaf.back();
    view.first_cpu_leaf = view.first_leaf[6];
    std::vector<index_type> first_leaf(view.first_leaf.begin(), view.first_leaf.begin() + 6);
    for (index_type leaf = view.first_cpu_leaf; leaf < n; leaf += 5) first_leaf.push_back(leaf);
    first_leaf.push_back(n);
    view.first_leaf = first_leaf;
    for (planner const plan : both_forms)
    {
      auto const planned = plan_for_gpus(plan, view, heavy, {150 * mebibyte, 4});
      double largest = 0;
      std::vector<index_type> begins;
      for (auto const& group : planned.groups)
        if (group.is_for_gpus)
          largest = std::max(largest, task_bytes(planned, group, heavy));
        else
          begins.push_back(group.targets.begin);
      EXPECT_LT(4 * largest, 150 * mebibyte);
      std::vector<index_type> expected;
      for (std::size_t g = 6; g + 1 < first_leaf.size(); ++g)
        expected.push_back(view.targets.begin(first_leaf[g]));
      EXPECT_EQ(begins, expected);
      EXPECT_GT(planned.groups.size(), first_leaf.size() - 1) << "this test would show nothing";
    }
  }

  TEST(can_run, a_plan_whose_tasks_read_few_chunks_and_fit)
  {
    for (std::size_t const chunks : {1, most_source_allocations, most_source_allocations + 1})
    {
      step_plan made;
      made.source_chunks.assign(chunks, {0, 100'000});
      auto& group = made.groups.emplace_back();
      group.is_for_gpus = true;
      group.targets = {0, 100'000};
      for (std::size_t c = 0; c < chunks; ++c) group.source_chunks.push_back(c);
      double const bytes = task_bytes(made, group, heavy);
      EXPECT_EQ(bytes, (1024. * double(chunks) + 1000) * 100'000);
      bool const can_be_launched = chunks <= std::size_t(most_source_allocations);
      // four fifths of what is beside 64 MiB; 0: no limit
      EXPECT_EQ(can_run(made, heavy, {0, 1}), can_be_launched);
      EXPECT_EQ(can_run(made, heavy, {64 * mebibyte + 1.251 * bytes, 1}), can_be_launched);
      EXPECT_EQ(can_run(made, heavy, {64 * mebibyte + 2.501 * bytes, 2}), can_be_launched);
      EXPECT_FALSE(can_run(made, heavy, {64 * mebibyte + 1.249 * bytes, 1}));
      EXPECT_FALSE(can_run(made, heavy, {64 * mebibyte + 1.251 * bytes, 2}));
      EXPECT_FALSE(can_run(made, heavy, {mebibyte, 1}));
      made.groups.push_back(made.groups[0]); // that of CPU workers does not count
      made.groups.front().is_for_gpus = false;
      made.groups.back().source_chunks = {0};
      EXPECT_TRUE(can_run(made, heavy, {0, 1}));
    }
  }

  TEST(plan_for_gpus, says_what_a_task_needs_where_nothing_helps)
  {
    cloud_in_groups const c(cloud::uniform);
    for (planner const plan : both_forms)
      EXPECT_THAT(message_of(
                      [&]
                      {
                        static_cast<void>(
                            plan_for_gpus(plan, c.groups.view(), heavy, {65 * mebibyte, 4}));
                      }),
                  AllOf(HasSubstr("a task needs"), HasSubstr("StarPU has 65 MiB"),
                        HasSubstr("STARPU_LIMIT_CUDA_MEM")));
  }
}
