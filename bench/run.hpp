#pragma once

#include <benchmark/benchmark.h>

#include <string>

/// \file
/// Exit status of benchmark programs, a failure if any row is wrong; and what their console shows.

namespace bench
{
  /// Marks the row as an error with this reason, and makes run_benchmarks() return failure, which Google
  /// Benchmark itself does not.
  void fail(benchmark::State& state, std::string const& reason);

  /// A row for the console: `pairs=3.2G/s` rather than `pairs/s=3.2G/s`, shares without "/s", and numbers below 0.01 in
  /// the label, since Google Benchmark would write 8e-16 as 800a.
  benchmark::BenchmarkReporter::Run readable(benchmark::BenchmarkReporter::Run row);

  /// Runs the rows selected on the command line. Returns the exit status.
  int run_benchmarks();
}
