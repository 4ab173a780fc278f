#include <nearfield/starpu/check.hpp>

#include <nearfield/core/error.hpp>

#include <starpu.h>

#include <cerrno>
#include <system_error>

namespace nearfield::starpu
{
  void detail::wait_for_all_tasks()
  {
    if (!starpu_is_initialized()) return;
    if (starpu_worker_get_id() >= 0)
      throw error(
          "wait: called by a worker of StarPU, in a codelet or a callback, which would wait "
          "for itself; wait in the thread that inserts tasks");
    check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
  }

  void check(int code, std::string const& what)
  {
    if (code == 0) return;
    std::string message = "StarPU: " + what + " returned " + std::to_string(code) + " (" +
                          std::generic_category().message(-code) + ")";
    if (code == -ENODEV)
      message +=
          "; no worker can do this: give StarPU CPU workers (STARPU_NCPU >= 1), and for tasks "
          "of backend cuda GPUs (STARPU_NCUDA >= 1)";
    throw error(message);
  }
}
