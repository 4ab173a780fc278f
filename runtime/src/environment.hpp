#pragma once

#include <nearfield/core/config.hpp>

#include <starpu.h>

#include <cstddef>

/// \file
/// Checks of what StarPU needs from the process, made before calling StarPU, which would abort.

namespace nearfield::starpu::detail
{
  /// The directory of StarPU's measurements: STARPU_PERF_MODEL_DIR, or one in XDG_CACHE_HOME, STARPU_HOME or HOME.
  /// Keep it while StarPU starts: until a process has measured the buses of this machine, others wait for it. StarPU
  /// aborts where it reads a file that another process is writing, as ranks of MPI would do at their first start.
  class home
  {
    int lock_;

  public:
    /// Creates the directory. If none of the first three variables is set and HOME is not writable, sets STARPU_HOME to
    /// a directory in the one for temporary files. Throws nearfield::error if the directory cannot be created.
    home();
    home(home const&) = delete;
    home& operator=(home const&) = delete;
    ~home();
  };

  /// Whether StarPU is running in this process. A child of fork() does not inherit the workers.
  bool is_running();

  /// Throws nearfield::error in a child process that was forked while StarPU was running.
  void check_process();

  /// Throws nearfield::error if StarPU is not running in this process.
  void check_running();

  /// Throws nearfield::error if there is not enough memory for a few of StarPU's objects. Called before
  /// StarPU makes a handle or a task, including the tasks it makes to wait for data.
  void check_room();

  /// Throws nearfield::error if there is no address space for that many mebibytes and for what StarPU takes for n tasks. If
  /// no heap of its own fits, a worker maps pages for each small block, however much other heaps have free. This takes
  /// microseconds, so it is done once for the tasks of a step, and once for each pass of a search.
  NEARFIELD_API void check_address_space(std::size_t mebibytes, std::size_t n_tasks);

  /// Throws nearfield::error if called by a worker, in a codelet or a callback: it would wait for itself, and
  /// StarPU would abort. Also throws in a child of fork(), which has no workers. `what` is the public function.
  NEARFIELD_API void check_may_wait(char const* what);
  /// Waits for all tasks. Throws nearfield::error if called by a worker, or if StarPU is not running.
  void wait_for_all_tasks();
  /// Waits for the tasks that write the data, and acquires it for reading on the node until
  /// starpu_data_release_on_node(). Call check_may_wait() before. Throws nearfield::error if StarPU is not running.
  void acquire_to_read(starpu_data_handle_t data, int node, char const* what);
  /// Waits for the tasks that use the data, and acquires it in main memory for reading and writing.
  void acquire_to_write(starpu_data_handle_t data, char const* what);
  /// Waits for the tasks that write the data, without moving it. Throws nearfield::error if called by a worker, or
  /// if StarPU is not running.
  NEARFIELD_API void wait_for_writers(starpu_data_handle_t data, char const* what);
  /// Polls until no task of the process is left, for two milliseconds at most, on the core that runtimes with GPUs leave
  /// to the main thread. StarPU wakes a thread that waits tens of microseconds late, which a step of a millisecond on
  /// several GPUs would notice. Throws what wait_for_writers() throws.
  void poll_for_last_task();
}
