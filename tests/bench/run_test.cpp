#include <run.hpp>
#include <sums.hpp>

#include <nearfield/kernels/builtin.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

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

  TEST(check_sums, fails_for_one_wrong_sum)
  {
    std::vector<double> const x{0, 1, 3}, zero(3), q{1, 10, 100};
    soa<double const, 2> const points({x.data(), zero.data()}, 3);
    soa<double const, 1> const charges({q.data()}, 3);
    std::vector<double> right{10 + 100 / 3., 1 + 50, 1 / 3. + 5};
    auto const row = [&](std::vector<double> const& found)
    {
      return [&, found](benchmark::State& state)
      {
        while (state.KeepRunning())
        {}
        bench::check_sums(
            state, bench::tolerance<double>(), 3,
            [&](std::size_t i) { return bench::sum_of_box(one_over_r<2>{}, i, points, charges); },
            [&](int, std::size_t i) { return found[i]; });
      };
    };
    EXPECT_EXIT(run(row(right)), testing::ExitedWithCode(0), "");
    for (double const wrong : {right[1] * (1 + 1e-12), 0., std::nan("")})
      EXPECT_EXIT(run(row({right[0], wrong, right[2]})), testing::ExitedWithCode(1), "") << wrong;
  }

  TEST(readable, rates_shares_and_small_numbers)
  {
    using benchmark::Counter;
    benchmark::BenchmarkReporter::Run row;
    row.report_label = "bound by fma";
    row.counters = {{"pairs/s", Counter(3e9, Counter::kIsRate)},
                    {"of_bound", Counter(0.8, Counter::kIsRate)},
                    {"max_relative_error", Counter(7.968e-16)},
                    {"no_error", Counter(0)},
                    {"workers", Counter(4)}};
    auto const shown = bench::readable(row);
    EXPECT_EQ(shown.report_label, "bound by fma, max_relative_error 8e-16");
    ASSERT_EQ(shown.counters.size(), 4);
    EXPECT_EQ(shown.counters.at("pairs").value, 3e9);
    EXPECT_EQ(shown.counters.at("pairs").flags, Counter::kIsRate);
    EXPECT_EQ(shown.counters.at("of_bound").value, 0.8);
    EXPECT_EQ(shown.counters.at("of_bound").flags, Counter::kDefaults);
    EXPECT_EQ(shown.counters.at("no_error").value, 0);
    EXPECT_EQ(shown.counters.at("workers").value, 4);
  }

  TEST(run_benchmarks, fails_where_a_row_is_wrong)
  {
    EXPECT_EXIT(run(right), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(run(wrong_before_the_loop), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(run(wrong_after_the_loop), testing::ExitedWithCode(1), "");
  }
}
