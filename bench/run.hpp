#pragma once

#include <benchmark/benchmark.h>

#include <string>

/// \file
/// How every benchmark program ends: with a failure where one of its rows is wrong.

namespace bench
{
  /// Makes the row an error, with the reason in its place, and the program a failure. Google Benchmark
  /// itself would end it as if all were well.
  void fail(benchmark::State& state, std::string const& reason);

  /// Runs the rows of the command line. Returns the exit status.
  int run_benchmarks();
}
