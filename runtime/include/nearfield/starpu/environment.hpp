#pragma once

#include <nearfield/core/api.hpp>

/// \file
/// What StarPU needs of the process, tried before it is asked: where it does not get it, it aborts.

namespace nearfield::starpu::detail
{
  /// Throws error for an environment variable of StarPU's whose value it cannot read.
  NEARFIELD_API void check_variables();

  /// Makes the folder of StarPU's measurements: in STARPU_PERF_MODEL_DIR, XDG_CACHE_HOME,
  /// STARPU_HOME or HOME. Sets STARPU_HOME to one below that for temporary files where none of the
  /// first three is set and HOME cannot be written to. Throws error where StarPU could not make it,
  /// and where it is empty and read-only.
  NEARFIELD_API void make_home();

  /// Throws error where the system does not give this process n more threads, each with a stack and
  /// a heap.
  NEARFIELD_API void check_threads(int n);

  /// Whether StarPU runs, in this process: the workers of a process that fork() copied stay with
  /// the other one.
  NEARFIELD_API bool is_running();

  /// Throws error in a child of fork() that was made while StarPU was running.
  NEARFIELD_API void check_process();

  /// Throws error where StarPU is not running in this process.
  NEARFIELD_API void check_running();

  /// Throws std::bad_alloc where there is no memory to be had for a few objects of StarPU's: called
  /// before it is given a handle or a task, and before it makes a task to wait with.
  NEARFIELD_API void check_room();
}
