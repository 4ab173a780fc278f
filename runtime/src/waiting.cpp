#include <nearfield/starpu/runtime.hpp>

#include "environment.hpp"

#include <nearfield/core/error.hpp>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace nearfield::starpu
{
  void detail::check_may_wait(char const* what)
  {
    check_process();
    if (starpu_worker_get_id() >= 0)
      throw error(
          std::string(what) +
          ": called from a StarPU worker (a codelet or callback), which would wait for itself; "
          "call it from the thread that inserts tasks");
  }

  void detail::wait_for_all_tasks()
  {
    check_may_wait("wait");
    check_running();
    check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
  }

  void detail::poll_for_last_task()
  {
    check_may_wait("wait");
    check_running();
    auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (starpu_task_nsubmitted() > 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }

  void detail::acquire_to_read(starpu_data_handle_t data, int node, char const* what)
  {
    check_running();
    check_room();
    check(starpu_data_acquire_on_node(data, node, STARPU_R),
          "starpu_data_acquire_on_node(" + std::string(what) + ")");
  }

  void detail::acquire_to_write(starpu_data_handle_t data, char const* what)
  {
    check_may_wait(what);
    check_running();
    check_room();
    check(starpu_data_acquire(data, STARPU_RW), "starpu_data_acquire(" + std::string(what) + ")");
  }

  void detail::wait_for_writers(starpu_data_handle_t data, char const* what)
  {
    check_may_wait("wait");
    acquire_to_read(data, STARPU_ACQUIRE_NO_NODE, what);
    starpu_data_release_on_node(data, STARPU_ACQUIRE_NO_NODE);
  }

  void check(int code, std::string const& what)
  {
    if (code == 0) return;
    std::string message = "StarPU: " + what + " returned " + std::to_string(code) + " (" +
                          std::generic_category().message(-code) + ")";
    if (code == -ENODEV)
    {
      message +=
          "; no worker can do this: give StarPU CPU workers (STARPU_NCPU >= 1), and for tasks "
          "of backend cuda GPUs (STARPU_NCUDA >= 1)";
      for (std::string const name : {"STARPU_RESERVE_NCPU", "STARPU_MAIN_THREAD_BIND"})
        if (char const* const taken = std::getenv(name.c_str()); taken && std::atoi(taken) > 0)
          message += "; " + name + "=" + taken + " takes CPU workers: unset it, or ask for more";
    }
    throw error(message,
                code == -ENODEV   ? error_kind::not_available
                : code == -ENOMEM ? error_kind::out_of_memory
                                  : error_kind::starpu_failure,
                code);
  }
}
