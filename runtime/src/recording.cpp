#include "recording.hpp"

#include "environment.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/tasks.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nearfield::starpu
{
  namespace
  {
    // tasks may end after the recording has
    struct recorded
    {
      std::atomic<std::uintptr_t> current = 0; ///< the recording's number, 0 without one
      std::mutex mutex;
      std::condition_variable all_ended;
      int running = 0;
      bool turned_profiling_on = false; ///< which resets what the program has measured
      std::uintptr_t last = 0;          ///< number of a recording
      std::vector<task_recording::record> tasks;
    };

    recorded& of_process()
    {
      static auto& made = *new recorded;
      return made;
    }

    /// A task's callback, in which StarPU says which task has ended; the argument is the number of its recording.
    void ended(void* number) noexcept
    {
      recorded& all = of_process();
      std::lock_guard const lock(all.mutex);
      if (--all.running == 0) all.all_ended.notify_all();
      starpu_task const* const task = starpu_task_get_current();
      bool const is_of_current = reinterpret_cast<std::uintptr_t>(number) == all.current;
      if (!is_of_current || !task || !task->profiling_info) return;
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
    std::uintptr_t const number = all.current;
    if (number == 0 || task.callback_func) return;
    std::lock_guard const lock(all.mutex);
    ++all.running;
    task.callback_func = &ended;
    task.callback_arg = reinterpret_cast<void*>(number);
  }

  void detail::forget(starpu_task& task)
  {
    if (task.callback_func != &ended) return;
    task.callback_func = nullptr;
    task.callback_arg = nullptr;
    recorded& all = of_process();
    std::lock_guard const lock(all.mutex);
    --all.running;
  }

  task_recording::task_recording()
  {
    detail::check_running();
    recorded& all = of_process();
    std::lock_guard const lock(all.mutex);
    if (all.current != 0) throw error("task_recording: there is one already; destroy it first");
    all.tasks.clear();
    all.turned_profiling_on = starpu_profiling_status_get() != STARPU_PROFILING_ENABLE;
    if (all.turned_profiling_on) starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    all.current = ++all.last;
  }

  task_recording::~task_recording()
  {
    recorded& all = of_process();
    all.current = 0;
    if (all.turned_profiling_on && detail::is_running())
      starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
  }

  std::vector<task_recording::record> task_recording::tasks() const
  {
    detail::check_may_wait("task_recording");
    recorded& all = of_process();
    std::unique_lock lock(all.mutex);
    // data are free, and waits for them return, before callbacks run
    all.all_ended.wait(lock, [&] { return all.running == 0; });
    std::vector<task_recording::record> tasks = all.tasks;
    lock.unlock();
    std::ranges::sort(tasks, {}, &task_recording::record::begin);
    double const first = tasks.empty() ? 0 : tasks.front().begin;
    for (task_recording::record& task : tasks)
    {
      task.begin -= first;
      task.end -= first;
    }
    return tasks;
  }
}
