#include <nearfield/starpu/runtime.hpp>

#include "idle_pause.hpp"

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace nearfield::starpu
{
  namespace
  {
    using nanoseconds = std::chrono::nanoseconds;

    std::atomic<int> n_idle = 0; ///< CPU workers that found no task when they last looked

    /// What a thread that drives a CPU worker does between tasks.
    class idle_worker
    {
    public:
      idle_worker() = default;
      idle_worker(idle_worker const&) = delete;
      idle_worker& operator=(idle_worker const&) = delete;
      ~idle_worker() { found_task(); }

      void found_task()
      {
        if (pause_ == nanoseconds(0)) return;
        pause_ = nanoseconds(0);
        n_idle.fetch_sub(1, std::memory_order_relaxed);
      }

      void found_none()
      {
        if (pause_ == nanoseconds(0)) n_idle.fetch_add(1, std::memory_order_relaxed);
        pause_ = detail::idle_pause(pause_, n_idle.load(std::memory_order_relaxed));
        starpu_worker_relax_on(); // others may give this worker tasks meanwhile
        if (pause_ > detail::shortest_sleep)
          std::this_thread::sleep_for(pause_);
        else
        {
          auto const end = std::chrono::steady_clock::now() + pause_;
          do std::this_thread::yield();
          while (std::chrono::steady_clock::now() < end);
        }
        starpu_worker_relax_off();
      }

    private:
      nanoseconds pause_{0}; ///< the last one since a task was found
    };

    void after_look(starpu_task const* found)
    {
#if defined(STARPU_SIMGRID) // where workers sleep, and time is not that of a clock
      if (!found) std::this_thread::yield();
#else
      if (starpu_worker_get_type(starpu_worker_get_id()) != STARPU_CPU_WORKER)
      {
        if (!found) std::this_thread::yield(); // it also looks for the end of kernels
        return;
      }
      thread_local idle_worker self;
      if (found)
        self.found_task();
      else
        self.found_none();
#endif
    }
  }

  starpu_sched_policy* yielding_policy(std::string const& name)
  {
    static starpu_sched_policy policy;
    static starpu_task* (*pop)(unsigned) = nullptr; // none, of a policy that gives tasks to workers
    if (policy.policy_name && policy.policy_name == name) return &policy; // which may be in use
    for (auto** known = starpu_sched_get_predefined_policies(); known && *known; ++known)
    {
      if ((*known)->policy_name != name) continue;
      policy = **known;
      pop = policy.pop_task;
      policy.pop_task = [](unsigned context)
      {
        starpu_task* const task = pop ? pop(context) : nullptr;
        after_look(task);
        return task;
      };
      return &policy;
    }
    return nullptr;
  }
}
