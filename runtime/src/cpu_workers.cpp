#include <nearfield/starpu/runtime.hpp>

#include "codelet.hpp"
#include "environment.hpp"
#include "task.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>

namespace nearfield::starpu
{
  namespace
  {
    /// A loop whose parts are taken by the tasks of the loop and, if that is a worker, by the caller of run(). Nobody
    /// waits for a task to start: a task that starts when all parts are taken finds nothing to do.
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
      std::exception_ptr first;
      task_argument argument;
      monitor watch; ///< the owner of tasks
    };

    class loop_codelet : public detail::codelet
    {
      using codelet::codelet;

      void run(detail::running_task const& task) const override
      {
        static_cast<parts_of_loop::task_argument const&>(task.argument).loop->take();
      }
    };

    void submit(std::shared_ptr<parts_of_loop> const& loop)
    {
      static auto& codelet =
          detail::registered<loop_codelet>({.name = "cpu_workers_loop",
                                            .symbol = "nearfield_cpu_workers_loop",
                                            .profiler_name = "cpu_workers_loop",
                                            .backends = backend::simd,
                                            .has_work = false,
                                            .is_counted = false});
      detail::task one(codelet, 0);
      one.set_argument(&loop->argument, sizeof(loop->argument));
      one.set_owner({loop, &loop->watch});
      one.set_priority(std::numeric_limits<int>::max());
      one.submit();
    }
  }

  int cpu_workers::workers() const
  {
    return std::max(1, static_cast<int>(starpu_cpu_worker_get_count()));
  }

  void cpu_workers::run(int n, std::function<void(int)> const& f)
  {
    if (n <= 0) return;
    detail::check_process();
    bool const is_worker = starpu_worker_get_id() >= 0;
    auto const loop = std::make_shared<parts_of_loop>(n, f);
    int const n_tasks = std::min(n, workers()) - (is_worker ? 1 : 0);
    int submitted = 0;
    try
    {
      if (n_tasks > 0) detail::check_address_space(4, static_cast<std::size_t>(n_tasks));
      for (; submitted < n_tasks; ++submitted) submit(loop);
    }
    catch (...)
    {
      if (!is_worker && submitted == 0) throw; // otherwise fewer share the parts
    }
    if (is_worker) loop->take();
    loop->wait();
  }
}
