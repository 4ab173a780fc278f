#pragma once

#include <nearfield/core/config.hpp>
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
    /// Throws nearfield::error if StarPU is not running or there is no memory for the task and its buffers.
    task(starpu_codelet& codelet, unsigned n_buffers);
    task(task const&) = delete;
    task& operator=(task const&) = delete;
    ~task();

    void add(starpu_data_handle_t data, starpu_data_access_mode mode);
    /// Throws nearfield::error for a worker that does not exist, for tags to wait for if the task has no tag
    /// or waits for its own, and for null tasks. The options must live until submit() has returned.
    void set_options(task_options const& options);
    /// Clamped to the scheduler's range of priorities.
    void set_priority(int priority);
    /// The only worker that may run it; -1: any may.
    void set_worker(int worker);
    /// Notifies the owner when the task is submitted, and when the task and its callback have ended, and
    /// keeps it alive until then.
    void set_owner(std::shared_ptr<monitor> owner);
    /// The argument must live until the task has ended.
    void set_argument(void* argument, std::size_t size);
    /// A copy, which lives as long as the task.
    template <class Argument>
    requires std::is_trivially_copyable_v<Argument>
    void set_argument_copy(Argument const& argument) { copy_argument(&argument, sizeof(argument)); }

    /// Throws nearfield::error if no worker, or not the one in the options, can run the task.
    void submit();

  private:
    /// Throws nearfield::error if no worker, or not the one in the options, can run the task.
    void check_worker() const;
    void copy_argument(void const* argument, std::size_t size);

    starpu_task* task_;
    unsigned n_ = 0;
    // dependencies are declared in submit(): StarPU would keep those of a task that is never submitted
    task_options const* options_ = nullptr;
    struct owned_callback;
    owned_callback* callback_ = nullptr;
  };
}
