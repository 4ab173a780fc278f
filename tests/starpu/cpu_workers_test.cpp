#include <nearfield/starpu/runtime.hpp>

#include "busy_workers.hpp"
#include "complains_of.hpp"
#include "one_runtime.hpp"
#include "points.hpp"
#include "runtime/src/cpu_workers.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nearfield::test
{
  TEST(starpu_cpu_workers, run_each_part_once)
  {
    starpu::cpu_workers on(one_runtime());
    EXPECT_GE(on.workers(), 1);
    for (int const n : {0, 1, 3, 200})
    {
      std::vector<int> calls(n, 0);
      on.run(n, [&](int part) { ++calls[part]; });
      EXPECT_EQ(std::ranges::count(calls, 1), n);
    }
  }

  TEST(starpu_cpu_workers, build_the_tree_of_one_thread)
  {
    starpu::cpu_workers on(one_runtime());
    auto const points = make_points<double, 3>(cloud::plummer, 20'000);
    auto const sources = make_points<double, 3>(cloud::uniform, 9'000);
    for (tree_options<3> const& options : {tree_options<3>{}, tree_options<3>{.level = 3}})
    {
      auto const one = build_tree(points.view(), sources.view(), options);
      auto const other = build_tree(simd.with(on), points.view(), sources.view(), options);
      EXPECT_EQ(other.root(), one.root());
      EXPECT_TRUE(std::ranges::equal(other.target_order(), one.target_order()));
      EXPECT_TRUE(std::ranges::equal(other.source_order(), one.source_order()));
      EXPECT_TRUE(std::ranges::equal(other.targets().offsets, one.targets().offsets));
      EXPECT_TRUE(std::ranges::equal(other.interactions().ranges, one.interactions().ranges));
    }
  }

  TEST(starpu_cpu_workers, search_what_one_thread_finds)
  {
    starpu::cpu_workers on(one_runtime());
    auto const x = make_points<double, 3>(cloud::uniform, 20000);
    cell_list const cells(x.view(), 0.08);
    auto const expected = radius_search(simd, cells, to_coo{});
    coo<double, 3> found;
    for (int repetition = 0; repetition < 3; ++repetition)
    {
      radius_search(simd.with(on), cells, to_coo{}, found);
      EXPECT_TRUE(std::ranges::equal(found.i, expected.i));
      EXPECT_TRUE(std::ranges::equal(found.j, expected.j));
    }
  }

  TEST(starpu_cpu_workers, rethrow_what_a_part_throws)
  {
    starpu::cpu_workers on(one_runtime());
    EXPECT_THROW(on.run(100,
                        [](int part)
                        {
                          if (part % 7 == 3) throw std::out_of_range("part");
                        }),
                 std::out_of_range);
    std::atomic<int> calls = 0;
    on.run(10, [&](int) { ++calls; });
    EXPECT_EQ(calls, 10) << "the next loop is whole";
  }

  TEST(starpu_cpu_workers, start_no_part_after_one_has_thrown)
  {
    starpu::cpu_workers on(one_runtime());
    std::atomic<int> calls = 0;
    EXPECT_THROW(on.run(1000,
                        [&](int)
                        {
                          ++calls;
                          throw std::out_of_range("part");
                        }),
                 std::out_of_range);
    EXPECT_LE(calls, on.workers()) << "one for each, all at once";
  }

  TEST(starpu_cpu_workers, serve_a_worker_that_calls_them)
  {
    starpu::cpu_workers on(one_runtime());
    std::atomic<int> inner = 0;
    // every worker is busy with an outer part: what they wait for, they do themselves
    int const n = 4 * on.workers();
    on.run(n, [&](int) { on.run(100, [&](int) { ++inner; }); });
    EXPECT_EQ(inner, 100 * n);
    EXPECT_THROW(on.run(n, [&](int) { on.run(2, [](int) { throw std::out_of_range("part"); }); }),
                 std::out_of_range);
  }

  TEST(starpu_cpu_workers, serve_a_second_loop_while_all_are_called_by_a_first)
  {
    starpu::cpu_workers on(one_runtime());
    busy_workers workers;
    // of two loops that begin now, one finds that each worker has been called and has not come
    std::atomic<int> calls = 0;
    auto const run = [&]
    {
      on.run(10, [&](int) { ++calls; });
    };
    {
      std::jthread const first(run), second(run);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      workers.let_go();
    }
    EXPECT_EQ(calls, 20);
  }

  TEST(starpu_cpu_workers, are_not_waited_for_by_a_thread_that_takes_parts)
  {
    starpu::detail::helping_workers on;
    busy_workers workers;
    std::atomic<int> calls = 0;
    on.run(100, [&](int) { ++calls; });
    EXPECT_EQ(calls, 100);
    workers.let_go();
  }

  TEST(starpu_cpu_workers, are_not_blocked_by_those_that_are_busy)
  {
    starpu::cpu_workers on(one_runtime());
    if (on.workers() < 2) GTEST_SKIP() << "needs two workers";
    // a part that holds its worker until the loops of another one have ended
    std::atomic<bool> is_done = false;
    std::atomic<int> inner = 0;
    on.run(2,
           [&](int part)
           {
             if (part == 1)
               while (!is_done) std::this_thread::yield();
             else
             {
               for (int loop = 0; loop < 1000; ++loop) on.run(8, [&](int) { ++inner; });
               is_done = true;
             }
           });
    EXPECT_EQ(inner, 8000);
  }
}
