#pragma once

#include <starpu.h>

namespace nearfield::starpu::detail
{
  /// Called before a task is submitted: a recording, if there is one, hears when it has ended.
  void record(starpu_task& task);
  /// Called if it was not submitted after all.
  void forget(starpu_task& task);
}
