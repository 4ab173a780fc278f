#include "environment.hpp"

#include <nearfield/core/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <pthread.h>
#include <sys/mman.h>

namespace nearfield::starpu::detail
{
  namespace
  {
    bool is_child_of_workers = false;
    [[maybe_unused]] int const watches_fork = pthread_atfork(
        nullptr, nullptr, [] { is_child_of_workers |= starpu_is_initialized() != 0; });
  }

  bool is_running()
  {
    return starpu_is_initialized() && !is_child_of_workers;
  }

  void check_process()
  {
    if (is_child_of_workers)
      throw error("StarPU: this process was created by fork() while StarPU was running, and has no "
                  "workers; start StarPU after fork(), or use it only in the parent",
                  error_kind::not_available);
  }

  void check_running()
  {
    check_process();
    if (!starpu_is_initialized())
      throw error("StarPU is not running: call starpu_init, or keep a nearfield::starpu::runtime "
                  "alive, as long as there are data and tasks",
                  error_kind::not_available);
  }

  void check_room()
  {
    // A handle makes forty allocations, each of which may take a page. As much again is left for the
    // workers, which allocate at the same time. glibc maps the first block of this size; once it is
    // freed, later ones come from the heap and are as cheap as small blocks.
    constexpr std::size_t enough = std::size_t(1) << 18;
    void* const volatile room = std::malloc(enough); // volatile: otherwise optimised away
    if (!room)
      throw error("StarPU: less than " + std::to_string(enough >> 10) +
                      " KiB of memory is left; use fewer points or tasks, or raise the limit "
                      "(ulimit -v)",
                  error_kind::out_of_memory);
    std::free(room);
  }

  void check_address_space(std::size_t mebibytes, std::size_t n_tasks)
  {
    std::size_t const enough =
        (mebibytes << 20) + n_tasks * 8192; // a task of a step took 2.4 to 5.5 kB
    void* const room = mmap(nullptr, enough, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED)
      munmap(room, enough);
    else if (errno == ENOMEM)
      throw error("StarPU: less than " + std::to_string(((enough - 1) >> 20) + 1) +
                      " MiB of address space is left; use fewer points or workers, or raise the "
                      "limit (ulimit -v)",
                  error_kind::out_of_memory);
  }
}
