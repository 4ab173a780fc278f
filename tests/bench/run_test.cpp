#include <run.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace nearfield::test
{
  namespace
  {
    /// A program of one row.
    template <class F>
    [[noreturn]] void run(F const& row)
    {
      benchmark::RegisterBenchmark("row", row)->Iterations(3);
      std::exit(bench::run_benchmarks());
    }

    void right(benchmark::State& state)
    {
      while (state.KeepRunning())
      {}
    }
    void wrong_before_the_loop(benchmark::State& state)
    {
      bench::fail(state, "no input");
      right(state);
    }
    void wrong_after_the_loop(benchmark::State& state)
    {
      right(state);
      bench::fail(state, "another result");
    }
  }

  TEST(run_benchmarks, fails_where_a_row_is_wrong)
  {
    EXPECT_EXIT(run(right), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(run(wrong_before_the_loop), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(run(wrong_after_the_loop), testing::ExitedWithCode(1), "");
  }
}
