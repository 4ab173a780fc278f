#include <nearfield/starpu/handles.hpp>

#include "environment.hpp"

#include <nearfield/core/error.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace nearfield::starpu
{
  namespace
  {
    void check_size(std::size_t n)
    {
      if (n > std::numeric_limits<std::uint32_t>::max())
        throw error("handle: found " + std::to_string(n) +
                    " values, a StarPU vector has fewer than 2^32; give fewer points or fewer "
                    "right-hand sides in one handle");
    }
  }

  handle::handle(int home, void const* data, std::size_t n, std::size_t room,
                 std::size_t element_size)
  {
    check_size(n);
    detail::check_running();
    detail::check_room();
    starpu_vector_data_register_allocsize(&data_, home, reinterpret_cast<std::uintptr_t>(data),
                                          static_cast<std::uint32_t>(n), element_size,
                                          room * element_size);
  }

  handle handle::of_bytes(std::size_t n, std::size_t room, std::size_t element_size)
  {
    check_size(n);
    if (starpu_worker_get_count() > starpu_cpu_worker_get_count())
      return handle(-1, nullptr, n, room, element_size);
    // zero pages, placed on the NUMA node of the worker that first touches them
    owned_memory memory(std::calloc(n, element_size), &std::free);
    if (!memory)
      throw error("handle: no memory for " + std::to_string(n) + " values of " +
                      std::to_string(element_size) + " bytes; use fewer points",
                  error_kind::out_of_memory);
    handle made(STARPU_MAIN_RAM, memory.get(), n, n, element_size);
    made.memory_ = std::move(memory);
    return made;
  }

  handle handle::of_order()
  {
    detail::check_running();
    handle made;
    starpu_void_data_register(&made.data_);
    return made;
  }

  handle::~handle()
  {
    if (data_ && detail::is_running()) starpu_data_unregister(data_);
  }
}
