#pragma once

#include <functional>
#include <map>
#include <string>

/// \file
/// Shared by the benchmark programs for one GPU.

namespace bench
{
  /// Seconds between two CUDA events on the default stream around the work of `f`. Waits for the work.
  double seconds_on_gpu(std::function<void()> const& f);

  /// The stages of one search on the default stream, which `f` starts: seconds by the names reported to a
  /// stage_trace, each from the end of the previous stage. "end" is the time after the last one.
  std::map<std::string, double> stages_of_search(std::function<void()> const& f);

  /// Initialises Google Benchmark with the GPU, its peaks, the driver, the commit and the compilers in its context.
  /// Returns 0, or the exit status if the program must end: 77, with the reason printed, if there is no
  /// GPU, or 1 for unknown arguments.
  int start_cuda_benchmarks(int& argc, char** argv);
}
