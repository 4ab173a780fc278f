#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include "points.hpp"
#include "same_tree.hpp"

#include <nearfield/core/where.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace
{
  /// Allocations that still succeed.
  long allocations_left = -1; // no limit
}

[[gnu::noinline]] void* operator new(std::size_t size)
{
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept
{
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept
{
  std::free(memory);
}

namespace nearfield::test
{
  namespace
  {
    /// Four workers, whose parts run one after the other on this thread.
    class in_turn : public executor
    {
    public:
      [[nodiscard]] int workers() const override { return 4; }
      void run(int n, std::function<void(int)> const& f) override
      {
        for (int part = 0; part < n; ++part)
        {
          try
          {
            f(part);
          }
          catch (std::bad_alloc const&)
          {
            ++failures;
            throw;
          }
        }
      }

      int failures = 0; ///< parts that ran out of memory
    };
  }

  TEST(build_tree, throws_where_a_part_runs_out_of_memory)
  {
    auto const points = make_points<double, 3>(cloud::plummer, 5000);
    for (tree_options<3> const& options :
         {tree_options<3>{.max_leaf_size = 8}, tree_options<3>{.level = 5}})
    {
      tree<3> const whole = build_tree(points.view(), options);
      in_turn on;
      bool has_failed = true;
      for (long allowed = 0; has_failed; ++allowed)
      {
        allocations_left = allowed;
        try
        {
          tree<3> const made = build_tree(simd.with(on), points.view(), options);
          allocations_left = -1;
          has_failed = false;
          expect_same_tree(made, whole);
        }
        catch (std::bad_alloc const&)
        {
          allocations_left = -1;
        }
      }
      EXPECT_GT(on.failures, 10);
    }
  }

  TEST(cell_list, is_as_it_was_or_empty_where_rebuild_runs_out_of_memory)
  {
    auto const small = make_points<double, 3>(cloud::uniform, 50);
    auto const large = make_points<double, 3>(cloud::uniform, 500, 8);
    auto const pairs_of = [](cell_list<double, 3> const& cells)
    {
      return radius_search(scalar, cells, count_pairs{pairs::full}).total;
    };
    cell_list<double, 3> const whole(large.view(), 0.2);
    std::uint64_t const before = pairs_of(cell_list<double, 3>(small.view(), 0.2));
    bool has_failed = true;
    for (long allowed = 0; has_failed; ++allowed)
    {
      cell_list<double, 3> cells(small.view(), 0.2);
      allocations_left = allowed;
      try
      {
        if (allowed % 2 == 0)
          cells.rebuild(large.view());
        else
          cells.rebuild(large.view(), large.view());
        has_failed = false;
      }
      catch (std::bad_alloc const&)
      {}
      allocations_left = -1;
      if (!has_failed) break;
      std::uint64_t const now = pairs_of(cells);
      EXPECT_TRUE(now == 0 || now == before) << now;
      cells.rebuild(large.view());
      EXPECT_EQ(pairs_of(cells), pairs_of(whole));
    }
  }
}
