// Two tasks at a time write one variable: ThreadSanitizer must say so through tests/tsan.supp, or it is blind to tasks.

#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <chrono>
#include <thread>

namespace
{
  int shared = 0;

  void write_shared(void**, void*)
  {
    ++shared;
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
  for (int i = 0; i < 100; ++i)
  {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet;
    if (starpu_task_submit(task) != 0) return 1;
  }
  starpu_task_wait_for_all();
  return 0;
}
