#pragma once

#include <functional>
#include <map>
#include <string>

/// \file
/// What the programs that time one GPU share.

namespace bench
{
  /// Between two CUDA events on the default stream, around what `f` gives it. Waits.
  double seconds_on_gpu(std::function<void()> const& f);

  /// The stages of one search on the default stream, which `f` starts: seconds by the names that a
  /// search_trace hears, each from the end of the one before; "end" is what follows the last.
  std::map<std::string, double> stages_of_search(std::function<void()> const& f);

  /// Starts Google Benchmark with the GPU, the driver, the commit and the compilers in its context.
  /// Returns the exit status where the program has to end: 77, with the reason, where there is no
  /// GPU; else 0.
  int start_cuda_benchmarks(int& argc, char** argv);
}
