#include "task.hpp"

#include "environment.hpp"
#include "recording.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace nearfield::starpu::detail
{
  namespace
  {
    starpu_task* create()
    {
      check_running();
      check_room();
      return starpu_task_create();
    }

    /// StarPU frees it with the task.
    void* memory_of_task(std::size_t bytes)
    {
      if (void* const memory = std::malloc(bytes)) return memory;
      throw error("StarPU: no memory for a task; use fewer tasks at a time",
                  error_kind::out_of_memory);
    }
  }

  /// The state of an owned task's callback. StarPU frees its memory with the task.
  struct task::owned_callback
  {
    std::shared_ptr<monitor> owner;
    void (*then)(void*);
    void* argument;

    // runs after StarPU has updated its models, which reads the task's argument
    static void call(void* self) noexcept
    {
      auto& here = *static_cast<owned_callback*>(self);
      owned_callback const mine = std::move(here);
      here.~owned_callback();
      if (mine.then) mine.then(mine.argument);
      mine.owner->ended();
    }
  };

  task::task(starpu_codelet& codelet) : task_(create())
  {
    task_->cl = &codelet;
    task_->name = codelet.name;
  }

  task::~task()
  {
    if (!task_) return;
    if (callback_) callback_->~owned_callback();
    task_->destroy = 0;
    starpu_task_destroy(task_);
  }

  void task::set_options(task_options const& options)
  {
    set_priority(options.priority);
    if (options.name) task_->name = options.name;
    task_->callback_func = options.callback;
    task_->callback_arg = options.callback_argument;
    if (options.worker >= static_cast<int>(starpu_worker_get_count()))
      throw error("worker: found " + std::to_string(options.worker) + ", StarPU has " +
                  std::to_string(starpu_worker_get_count()) + "; count from 0");
    set_worker(options.worker);
    if (options.tag)
    {
      task_->use_tag = 1;
      task_->tag_id = *options.tag;
    }
    else if (!options.after.empty())
      throw error("after: the task waits for tags and has none itself; give it a tag");
    if (options.tag && std::ranges::count(options.after, *options.tag) > 0)
      throw error("after: the task waits for its own tag, " + std::to_string(*options.tag));
    if (std::ranges::count(options.after_tasks, nullptr) > 0)
      throw error("after_tasks: found a null pointer; give tasks");
    options_ = &options;
  }

  void task::set_worker(int worker)
  {
    if (worker < 0) return;
    task_->execute_on_a_specific_worker = 1;
    task_->workerid = static_cast<unsigned>(worker);
  }

  void task::set_owner(std::shared_ptr<monitor> owner)
  {
    callback_ = new (memory_of_task(sizeof(owned_callback)))
        owned_callback{std::move(owner), task_->callback_func, task_->callback_arg};
    task_->callback_func = &owned_callback::call;
    task_->callback_arg = callback_;
    task_->callback_arg_free = 1;
  }

  void task::set_priority(int priority)
  {
    // every scheduler accepts the default, which most tasks have; the limits need not be asked for
    if (priority != STARPU_DEFAULT_PRIO)
      priority =
          std::clamp(priority, starpu_sched_get_min_priority(), starpu_sched_get_max_priority());
    task_->priority = priority;
  }

  void task::set_argument(void* argument, std::size_t size)
  {
    task_->cl_arg = argument;
    task_->cl_arg_size = size;
  }

  void task::copy_argument(void const* argument, std::size_t size)
  {
    void* const copy = memory_of_task(size);
    std::memcpy(copy, argument, size);
    set_argument(copy, size);
    task_->cl_arg_free = 1;
  }

  void task::set_buffers()
  {
    std::size_t const n = buffers_.size();
    task_->nbuffers = static_cast<int>(n);
    if (n > STARPU_NMAXBUFS)
    {
      // StarPU frees them with the task
      task_->dyn_handles =
          static_cast<starpu_data_handle_t*>(std::malloc(n * sizeof(starpu_data_handle_t)));
      task_->dyn_modes =
          static_cast<starpu_data_access_mode*>(std::malloc(n * sizeof(starpu_data_access_mode)));
      if (!task_->dyn_handles || !task_->dyn_modes)
        throw error("StarPU: no memory for a task with " + std::to_string(n) +
                        " buffers; use more leaves per group",
                    error_kind::out_of_memory);
    }
    for (std::size_t b = 0; b < n; ++b)
    {
      STARPU_TASK_SET_HANDLE(task_, buffers_[b].handle, b);
      (task_->dyn_modes ? task_->dyn_modes : task_->modes)[b] = buffers_[b].mode;
    }
  }

  void task::check_worker() const
  {
    auto const can = [&](unsigned worker)
    {
      for (unsigned implementation = 0; implementation < STARPU_MAXIMPLEMENTATIONS;
           ++implementation)
        if (starpu_worker_can_execute_task(worker, task_, implementation)) return true;
      return false;
    };
    if (task_->execute_on_a_specific_worker)
    {
      if (!can(task_->workerid))
        throw error("worker: found " + std::to_string(task_->workerid) + ", which is " +
                    worker_name(static_cast<int>(task_->workerid)) +
                    ": it has no implementation of " + task_->cl->name +
                    " to run; name another worker or other back-ends");
      return;
    }
    unsigned const n = starpu_worker_get_count();
    for (unsigned worker = 0; worker < n; ++worker)
      if (can(worker)) return;
    check(-ENODEV, "the task " + std::string(task_->cl->name));
  }

  void task::submit()
  {
    set_buffers();
    // checked first: a task that StarPU refuses must not leave dependencies declared
    check_worker();
    if (options_ && !options_->after.empty())
      starpu_tag_declare_deps_array(task_->tag_id, static_cast<unsigned>(options_->after.size()),
                                    const_cast<starpu_tag_t*>(options_->after.data()));
    if (options_ && !options_->after_tasks.empty())
      starpu_task_declare_deps_array(task_, static_cast<unsigned>(options_->after_tasks.size()),
                                     const_cast<starpu_task**>(options_->after_tasks.data()));
    // StarPU may run and free the task and its callback before starpu_task_submit returns
    char const* const name = task_->name;
    monitor* const owner = callback_ ? callback_->owner.get() : nullptr;
    if (owner) owner->submitted();
    record(*task_);
    int const code = starpu_task_submit(task_);
    if (code != 0)
    {
      if (owner) owner->ended();
      forget(*task_);
      check(code, "starpu_task_submit(" + std::string(name ? name : "task") + ")");
    }
    task_ = nullptr;
  }
}
