// Tells ThreadSanitizer what it cannot see. StarPU starts a task after its submission, and after the tasks that used
// its data, but enforces this by spin locks in code that is not instrumented; the mutexes on the way show the order
// only most of the time. mremap is not intercepted: addresses that it frees keep their history. The functions below
// replace those of StarPU and of the C library, and call StarPU's.
//
// Not told, since no test here takes them: tasks without a function, reductions by more than two workers, asynchronous
// partitions, several tags at once. Not seen: what StarPU runs inside a submission. StarPU 1.4 hides
// _starpu_push_task_output: take 1.3.

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <starpu.h>
#include <sys/mman.h>

#include <cstring>

extern "C" void __tsan_ignore_thread_begin();
extern "C" void __tsan_ignore_thread_end();

/// Remembers as many accesses as possible: a race with a forgotten one is not reported, and a worker that polls makes
/// it forget within milliseconds.
extern "C" char const* __tsan_default_options()
{
  return "history_size=7";
}

namespace
{
  /// The next definition of this name: the one that is replaced here.
  template <class Result, class Argument>
  Result call_next(char const* name, Argument* argument)
  {
    return reinterpret_cast<Result (*)(Argument*)>(dlsym(RTLD_NEXT, name))(argument);
  }

  /// each(data, writes) for the data of a task
  template <class Each>
  void each_buffer(starpu_task* task, Each const& each)
  {
    if (!task->cl) return; // a task of StarPU's own, without a function
    for (unsigned b = 0; b < STARPU_TASK_GET_NBUFFERS(task); ++b)
      each(reinterpret_cast<char*>(STARPU_TASK_GET_HANDLE(task, b)),
           (STARPU_TASK_GET_MODE(task, b) & STARPU_W) != 0);
  }

  // the first byte of a handle stands for the tasks that wrote its data, the second for those that read it

  void about_to_run(void* argument)
  {
    __tsan_acquire(argument);
    each_buffer(static_cast<starpu_task*>(argument),
                [](char* data, bool writes)
                {
                  __tsan_acquire(data);
                  if (writes) __tsan_acquire(data + 1);
                });
  }
}

extern "C" int(starpu_task_submit)(starpu_task* task)
{
  task->prologue_callback_pop_func = &about_to_run;
  task->prologue_callback_pop_arg = task;
  __tsan_release(task);
  // StarPU now allocates memory for the task, after the release: that must not count as a write
  __tsan_ignore_thread_begin();
  int const code = call_next<int>("starpu_task_submit", task);
  __tsan_ignore_thread_end();
  return code;
}

struct _starpu_job;

/// StarPU calls it after a task has run, before others may take its data.
extern "C" void _starpu_push_task_output(_starpu_job* job)
{
  if (starpu_task* const task = starpu_task_get_current())
    each_buffer(task, [](char* data, bool writes) { __tsan_release(writes ? data : data + 1); });
  call_next<void>("_starpu_push_task_output", job);
}

/// As page_array calls it: with MREMAP_MAYMOVE.
extern "C" void* mremap(void* pages, std::size_t from, std::size_t to, int, ...) noexcept
{
  if (to < from)
  {
    munmap(static_cast<char*>(pages) + to, from - to);
    return pages;
  }
  void* const moved =
      mmap(nullptr, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, pages, from);
  munmap(pages, from);
  return moved;
}
