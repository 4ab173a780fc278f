#include "recording.hpp"

#include "environment.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/tasks.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace nearfield::starpu
{
  namespace
  {
    // tasks may end after the recording has
    struct recorded
    {
      std::atomic<bool> is_on = false;
      std::mutex mutex;
      std::condition_variable all_ended;
      int running = 0;
      std::vector<task_record> tasks;
    };

    recorded& of_process()
    {
      static auto& made = *new recorded;
      return made;
    }

    /// A task's callback, in which StarPU says which task has ended.
    void ended(void*) noexcept
    {
      recorded& all = of_process();
      std::lock_guard const lock(all.mutex);
      if (--all.running == 0) all.all_ended.notify_all();
      starpu_task const* const task = starpu_task_get_current();
      if (!all.is_on || !task || !task->profiling_info) return;
      auto const seconds = [](timespec time)
      {
        return 1e-6 * starpu_timing_timespec_to_us(&time);
      };
      auto const& times = *task->profiling_info;
      try
      {
        all.tasks.push_back(
            {task->name, times.workerid, seconds(times.start_time), seconds(times.end_time)});
      }
      catch (...)
      {
        // no memory: the record lacks this task
      }
    }
  }

  void detail::record(starpu_task& task)
  {
    recorded& all = of_process();
    if (!all.is_on || task.callback_func) return;
    std::lock_guard const lock(all.mutex);
    ++all.running;
    task.callback_func = &ended;
  }

  void detail::forget(starpu_task& task)
  {
    if (task.callback_func != &ended) return;
    task.callback_func = nullptr;
    recorded& all = of_process();
    std::lock_guard const lock(all.mutex);
    --all.running;
  }

  task_recording::task_recording()
  {
    detail::check_running();
    recorded& all = of_process();
    std::lock_guard const lock(all.mutex);
    if (all.is_on) throw error("task_recording: there is one already; destroy it first");
    all.tasks.clear();
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    all.is_on = true;
  }

  task_recording::~task_recording()
  {
    of_process().is_on = false;
    if (detail::is_running()) starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
  }

  std::vector<task_record> task_recording::tasks() const
  {
    detail::check_may_wait("task_recording");
    recorded& all = of_process();
    std::unique_lock lock(all.mutex);
    // data are free, and waits for them return, before callbacks run
    all.all_ended.wait(lock, [&] { return all.running == 0; });
    std::vector<task_record> tasks = all.tasks;
    lock.unlock();
    std::ranges::sort(tasks, {}, &task_record::begin);
    double const first = tasks.empty() ? 0 : tasks.front().begin;
    for (task_record& task : tasks)
    {
      task.begin -= first;
      task.end -= first;
    }
    return tasks;
  }
}
