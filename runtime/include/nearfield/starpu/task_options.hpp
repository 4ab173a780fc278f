#pragma once

#include <starpu.h>

#include <optional>
#include <vector>

namespace nearfield::starpu
{
  /// What a task of yours tells StarPU beside its data.
  struct task_options
  {
    /// larger first, where the scheduler knows priorities; beyond what it knows, its largest or smallest
    int priority = STARPU_DEFAULT_PRIO;
    /// by which others name the task
    std::optional<starpu_tag_t> tag = std::nullopt;
    /// tags of tasks that must have ended before it begins, besides those that its data wait for; the task
    /// needs a tag of its own then
    std::vector<starpu_tag_t> after = {};
    /// the same, by tasks that are not submitted yet, or that StarPU keeps (destroy = 0 and detach = 0)
    std::vector<starpu_task*> after_tasks = {};
    /// called with callback_argument when the task has ended, on the thread that ran it; it must not throw or
    /// wait
    void (*callback)(void*) = nullptr;
    void* callback_argument = nullptr; ///< what callback is called with
    /// StarPU's number of the worker that runs it; negative: any that can
    int worker = -1;
    /// in traces, with the life of a string literal; null: that of the codelet
    char const* name = nullptr;
  };
}
