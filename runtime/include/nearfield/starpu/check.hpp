#pragma once

#include <nearfield/core/api.hpp>

#include <starpu.h>

#include <string>

namespace nearfield::starpu
{
  namespace detail
  {
    /// Throws error where a worker calls it, in a codelet or a callback: it would wait for itself,
    /// and StarPU aborts; and in a child of fork(), which has no workers. `what` is the public
    /// function.
    NEARFIELD_API void check_may_wait(char const* what);
    /// Waits for all tasks, if StarPU is running. Throws error where a worker calls it.
    NEARFIELD_API void wait_for_all_tasks();
    /// Waits for the tasks that write the data, and holds it for reading on the node until
    /// starpu_data_release_on_node(). Throws error where a worker calls it, or StarPU does not run.
    NEARFIELD_API void acquire_to_read(starpu_data_handle_t data, int node, char const* what);
    /// Waits for the tasks that write the data, which stays in the memory where it is. Throws error
    /// where a worker calls it.
    NEARFIELD_API void wait_for_writers(starpu_data_handle_t data, char const* what);
  }

  /// Throws error when a StarPU function returned a code other than 0; `what` is the function and what
  /// it was called for. StarPU returns negative values of errno.
  NEARFIELD_API void check(int code, std::string const& what);
}
