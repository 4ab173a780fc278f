#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/tasks.hpp>

#include <starpu.h>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace nearfield::starpu::detail
{
  /// A StarPU task under construction, with any number of buffers; destroyed unless it is submitted.
  class NEARFIELD_API task
  {
  public:
    /// Throws nearfield::error if StarPU is not running or there is no memory for the task.
    explicit task(starpu_codelet& codelet);
    /// The argument must live until the task has ended. Priority and worker as in task_options.
    template <class Argument>
    task(starpu_codelet& codelet, Argument& argument, int priority = STARPU_DEFAULT_PRIO,
         int worker = -1)
        : task(codelet)
    {
      set_argument(&argument, sizeof(argument));
      set_priority(priority);
      set_worker(worker);
    }
    task(task const&) = delete;
    task& operator=(task const&) = delete;
    ~task();

    void add(starpu_data_handle_t data, starpu_data_access_mode mode)
    {
      buffers_.push_back({data, mode});
    }
    /// Throws nearfield::error for a worker that does not exist, for tags to wait for if the task has no tag
    /// or waits for its own, and for null tasks. The options must live until submit() has returned.
    void set_options(task_options const& options);
    /// Notifies the owner when the task is submitted, and when the task and its callback have ended, and
    /// keeps it alive until then.
    void set_owner(std::shared_ptr<monitor> owner);
    /// A copy, which lives as long as the task.
    template <class Argument>
      requires std::is_trivially_copyable_v<Argument>
    void set_argument_copy(Argument const& argument)
    {
      copy_argument(&argument, sizeof(argument));
    }

    /// Throws nearfield::error if no worker, or not the one in the options, can run the task, and if there is no memory
    /// for many buffers.
    void submit();

  private:
    void set_argument(void* argument, std::size_t size);
    /// Clamped to the scheduler's range of priorities.
    void set_priority(int priority);
    /// The only worker that may run it; -1: any may.
    void set_worker(int worker);
    void set_buffers();
    /// Throws nearfield::error if no worker, or not the one in the options, can run the task.
    void check_worker() const;
    void copy_argument(void const* argument, std::size_t size);

    starpu_task* task_;
    inline_vector<starpu_data_descr, 16> buffers_;
    // dependencies are declared in submit(): StarPU would keep those of a task that is never submitted
    task_options const* options_ = nullptr;
    struct owned_callback;
    owned_callback* callback_ = nullptr;
  };
}
