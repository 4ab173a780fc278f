#pragma once

#include <starpu.h>

#include <optional>
#include <vector>

namespace nearfield::starpu
{
  /// What StarPU is told of a task besides its data.
  struct task_options
  {
    /// higher runs first if the scheduler has priorities; clamped to the scheduler's range
    int priority = STARPU_DEFAULT_PRIO;
    /// tag by which other tasks refer to this one
    std::optional<starpu_tag_t> tag = std::nullopt;
    /// tags of tasks that must end before this one starts, besides those implied by its data; requires `tag`
    std::vector<starpu_tag_t> after = {};
    /// the same, as tasks that are not yet submitted, or that StarPU keeps (destroy = 0 and detach = 0)
    std::vector<starpu_task*> after_tasks = {};
    /// called with callback_argument on the worker when the task has ended; must neither throw nor wait
    void (*callback)(void*) = nullptr;
    void* callback_argument = nullptr; ///< argument of callback
    /// StarPU's number of the worker that must run the task; negative: any
    int worker = -1;
    /// name in traces, with the lifetime of a string literal; null: the codelet's name
    char const* name = nullptr;
  };
}
