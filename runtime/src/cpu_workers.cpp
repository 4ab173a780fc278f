#include "cpu_workers.hpp"

#include "codelet.hpp"
#include "environment.hpp"
#include "task.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <span>

namespace nearfield::starpu
{
  namespace
  {
    /// Whether a worker has a task of some loop that has not started: it is busy, and gets no other.
    std::atomic<bool> is_awaited[STARPU_NMAXWORKERS];

    /// A loop whose parts are taken by its tasks and, maybe, by the caller of run(), who then never waits for a task to
    /// start: one that starts when all parts are taken finds nothing to do.
    struct parts_of_loop
    {
      parts_of_loop(int parts, std::function<void(int)> const& body) : n(parts), f(&body)
      {
        argument.loop = this;
      }

      void take() noexcept
      {
        for (int part = next++; part < n; part = next++)
        {
          std::exception_ptr thrown;
          if (!has_failed)
          {
            try
            {
              (*f)(part);
            }
            catch (...)
            {
              thrown = std::current_exception();
              has_failed = true;
            }
          }
          std::lock_guard const lock(mutex);
          if (thrown && !first) first = thrown;
          if (++ended == n) all_ended.notify_all();
        }
      }

      void wait()
      {
        std::unique_lock lock(mutex);
        all_ended.wait(lock, [this] { return ended == n; });
        if (first) std::rethrow_exception(first);
      }

      struct task_argument : detail::task_argument
      {
        parts_of_loop* loop;
      };

      int const n;
      std::function<void(int)> const* f; ///< exists until all parts have ended
      std::atomic<int> next = 0;
      std::atomic<bool> has_failed = false;
      std::mutex mutex;
      std::condition_variable all_ended;
      int ended = 0;
      bool is_called = false; ///< there is a task; for the caller of run()
      std::exception_ptr first;
      task_argument argument;
      monitor watch; ///< the owner of tasks
    };

    void take_parts(detail::running_task const& task)
    {
      is_awaited[starpu_worker_get_id()] = false;
      static_cast<parts_of_loop::task_argument const&>(task.argument).loop->take();
    }

    void submit(std::shared_ptr<parts_of_loop> const& loop, task_options const& options)
    {
      static auto& codelet = detail::registered<detail::codelet_of<&take_parts>>(
          {.name = "cpu_workers_loop",
           .symbol = "nearfield_cpu_workers_loop",
           .profiler_name = "cpu_workers_loop",
           .backends = backend::simd,
           .is_counted = false,
           .has_model = false});
      detail::task one(codelet, loop->argument);
      one.set_options(options);
      one.set_owner({loop, &loop->watch});
      one.submit();
    }

    /// A task for each CPU worker but the calling one, as long as there are parts to take. It names the worker: StarPU
    /// runs it before what the scheduler has for that worker.
    void call_workers(std::shared_ptr<parts_of_loop> const& loop, int most)
    {
      int ids[STARPU_NMAXWORKERS];
      int const n = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, STARPU_NMAXWORKERS);
      for (int const worker : std::span(ids, static_cast<std::size_t>(std::max(0, n))))
      {
        if (most == 0 || loop->next >= loop->n) return;
        if (worker == starpu_worker_get_id() || is_awaited[worker].exchange(true)) continue;
        try
        {
          submit(loop, {.worker = worker});
        }
        catch (...)
        {
          is_awaited[worker] = false;
          throw;
        }
        loop->is_called = true;
        --most;
      }
    }

    /// StarPU lets the thread wait that submits too many tasks, which one that takes parts may not.
    bool may_submit()
    {
      return std::getenv("STARPU_LIMIT_MAX_SUBMITTED_TASKS") == nullptr;
    }
  }

  void detail::run_on_cpu_workers(int n, std::function<void(int)> const& f, bool caller_takes)
  {
    if (n <= 0) return;
    check_process();
    bool const takes = caller_takes || starpu_worker_get_id() >= 0;
    auto const loop = std::make_shared<parts_of_loop>(n, f);
    if (int const most = takes ? n - 1 : n; most > 0 && (!takes || may_submit()))
    {
      try
      {
        check_address_space(4, static_cast<std::size_t>(n_cpu_workers()));
        call_workers(loop, most);
        if (!takes && !loop->is_called) submit(loop, {}); // all are busy
      }
      catch (...)
      {
        if (!takes && !loop->is_called) throw; // otherwise fewer share the parts
      }
    }
    if (takes) loop->take();
    loop->wait();
  }

  int detail::n_cpu_workers()
  {
    return std::max(1, static_cast<int>(starpu_cpu_worker_get_count()));
  }

  int cpu_workers::workers() const
  {
    return detail::n_cpu_workers();
  }

  void cpu_workers::run(int n, std::function<void(int)> const& f)
  {
    detail::run_on_cpu_workers(n, f);
  }
}
