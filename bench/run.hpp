#pragma once

#include <benchmark/benchmark.h>

#include <string>

/// \file
/// Exit status of benchmark programs: a failure if any row is wrong.

namespace bench
{
  /// Marks the row as an error with this reason, and makes run_benchmarks() return failure, which Google
  /// Benchmark itself does not.
  void fail(benchmark::State& state, std::string const& reason);

  /// Runs the rows selected on the command line. Returns the exit status.
  int run_benchmarks();
}
