#pragma once

#include <nearfield/nearfield.h>

#include <cstddef>

/// \file
/// The threads of calls: one team for each number of them, for as long as the process lives.

namespace nearfield::python
{
  /// Fewer points than this are not worth threads.
  inline constexpr std::size_t few_points = 4096;

  /// Threads for a call with n_threads, of which 0 stands for OMP_NUM_THREADS or, if that is not set, for the processors of
  /// this process. Null, the calling thread, if work is not worth waking them up. Throws ValueError for n_threads below 0.
  nf_threads* threads_for(int n_threads, bool is_worth_it);

  /// That place.
  nf_place place_on(nf_threads* threads);
}
