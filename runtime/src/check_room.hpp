#pragma once

#include "step_parts.hpp"

#include "fit_memory.hpp"

namespace nearfield::starpu::detail
{
  /// Throws nearfield::error if the data of a task that copies rows do not fit into a GPU.
  template <class T>
  void check_room(step_parts<T> const& step, nearfield::detail::gpu_memory const& memory);
}
