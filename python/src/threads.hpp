#pragma once

#include <nearfield/nearfield.h>

/// \file
/// The threads of calls: one team for each number of them, for as long as the process lives.

namespace nearfield::python
{
  /// Threads for a call with n_threads, of which 0 stands for OMP_NUM_THREADS or, if that is not set, for the processors of
  /// this process. Null: the calling thread.
  nf_threads* threads_for(int n_threads);

  /// That place.
  nf_place place_on(nf_threads* threads);
}
