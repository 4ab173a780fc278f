// Two tasks at a time write one variable: ThreadSanitizer must say so through tests/tsan.supp, or it is blind to tasks.

#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace
{
  // apart: ThreadSanitizer remembers four accesses of eight bytes
  alignas(8) int shared = 0;
  alignas(8) std::atomic<int> arrived = 0;

  void write_shared(void**, void*)
  {
    // relaxed: two tasks meet and are still not ordered. Ten seconds, should there be one worker only.
    arrived.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < 10000 && arrived.load(std::memory_order_relaxed) < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++shared;
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
