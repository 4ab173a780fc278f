#pragma once

#include <starpu.h>

/// \file
/// What StarPU needs of the process, tried before it is asked: where it does not get it, it aborts.

namespace nearfield::starpu::detail
{
  /// Throws error for an environment variable of StarPU's whose value it cannot read.
  void check_variables();

  /// Makes the folder of StarPU's measurements: in STARPU_PERF_MODEL_DIR, XDG_CACHE_HOME,
  /// STARPU_HOME or HOME. Sets STARPU_HOME to one below that for temporary files where none of the
  /// first three is set and HOME cannot be written to. Throws error where StarPU could not make it,
  /// and where it is empty and read-only.
  void make_home();

  /// Throws error where the system does not give this process n more threads, each with a stack and
  /// a heap.
  void check_threads(int n);

  /// Whether StarPU runs, in this process: the workers of a process that fork() copied stay with
  /// the other one.
  bool is_running();

  /// Throws error in a child of fork() that was made while StarPU was running.
  void check_process();

  /// Throws error where StarPU is not running in this process.
  void check_running();

  /// Throws std::bad_alloc where there is no memory to be had for a few objects of StarPU's: called
  /// before it is given a handle or a task, and before it makes a task to wait with.
  void check_room();

  /// Throws error where a worker calls it, in a codelet or a callback: it would wait for itself,
  /// and StarPU aborts; and in a child of fork(), which has no workers. `what` is the public
  /// function.
  void check_may_wait(char const* what);
  /// Waits for all tasks, if StarPU is running. Throws error where a worker calls it.
  void wait_for_all_tasks();
  /// Waits for the tasks that write the data, and holds it for reading on the node until
  /// starpu_data_release_on_node(). Throws error where a worker calls it, or StarPU does not run.
  void acquire_to_read(starpu_data_handle_t data, int node, char const* what);
  /// Waits for the tasks that write the data, which stays in the memory where it is. Throws error
  /// where a worker calls it.
  void wait_for_writers(starpu_data_handle_t data, char const* what);
}
