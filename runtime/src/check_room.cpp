#include "check_room.hpp"

#include <nearfield/core/error.hpp>

#include <starpu.h>

#include <cstdint>
#include <string>

namespace nearfield::starpu::detail
{
  template <class T>
  void check_room(step_parts<T> const& step, nearfield::detail::gpu_memory const& memory)
  {
    auto const check = [&](copies const& what, starpu_data_handle_t to)
    {
      if (what.rows.empty()) return;
      auto bytes = static_cast<double>(starpu_data_get_alloc_size(to));
      for (starpu_data_handle_t const source : what.sources)
        bytes += static_cast<double>(starpu_data_get_alloc_size(source));
      if (!nearfield::detail::fits(bytes, memory))
        throw error("near_field: a task that copies rows of a rank has " +
                        std::to_string(static_cast<std::uint64_t>(bytes)) +
                        " bytes of data, too much for its GPU; take more ranks, or backend simd",
                    error_kind::out_of_memory);
    };
    for (step_sources<T> const& one : step.sources) check(one.inputs, one.q.front());
    for (step_group<T> const& one : step.groups) check(one.halos, one.out);
    for (step_layer<T> const& one : step.layers)
    {
      if (step.has_positions_on_gpu) check(one.positions, one.x_sent);
      check(one.inputs, one.q_sent);
    }
    check(step.others.positions, step.others.x);
    check(step.others.inputs, step.others.q);
    for (step_peer<T> const& one : step.peers) check(one.to_caller, one.out_sent);
  }

  template void check_room(step_parts<float> const&, nearfield::detail::gpu_memory const&);
  template void check_room(step_parts<double> const&, nearfield::detail::gpu_memory const&);
}
