// Two tasks at a time write one variable: ThreadSanitizer must say so through tests/tsan.supp, or it is blind to tasks.

#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace
{
  // apart: ThreadSanitizer remembers only four accesses of eight bytes
  alignas(8) int shared = 0;
  alignas(8) std::atomic<int> arrived = 0;

  /// Relaxed: a meeting is no order. Ten seconds at most, should there be one worker only.
  void wait_for(int n)
  {
    for (int i = 0; i < 10000 && arrived.load(std::memory_order_relaxed) < n; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void write_shared(void**, void*)
  {
    int const before = arrived.fetch_add(1, std::memory_order_relaxed);
    wait_for(2);                  // both run, on two workers
    if (before == 1) wait_for(3); // writes at the same instant may be missed
    ++shared;
    arrived.fetch_add(1, std::memory_order_relaxed);
    wait_for(4); // a worker that polls makes ThreadSanitizer forget
  }
}

int main()
{
  // starpu_init alone would read what tests beside this one are writing
  nearfield::starpu::runtime const starpu;
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = write_shared;
  for (int i = 0; i < 2; ++i)
  {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet;
    if (starpu_task_submit(task) != 0) return 1;
  }
  starpu_task_wait_for_all();
  return 0;
}
