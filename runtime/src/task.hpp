#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/starpu/monitor.hpp>
#include <nearfield/starpu/task_options.hpp>

#include <starpu.h>

#include <memory>

namespace nearfield::starpu::detail
{
  /// A StarPU task under construction, of any number of buffers; destroyed unless it is submitted.
  class NEARFIELD_API task
  {
  public:
    /// Throws error when StarPU is not running, and when it has no memory for the task.
    task(starpu_codelet& codelet, unsigned n_buffers);
    task(task const&) = delete;
    task& operator=(task const&) = delete;
    ~task();

    void add(starpu_data_handle_t data, starpu_data_access_mode mode);
    /// Throws error for a worker that there is none of or that cannot run the task, and for tags to wait for
    /// without a tag. The options must live until submit() has returned.
    void set_options(task_options const& options);
    /// Where the priority of the scheduler ends is where this one is cut.
    void set_priority(int priority);
    /// The owner is told when the task is submitted and when it has ended, its callback too; it
    /// lives until then.
    void set_owner(std::shared_ptr<monitor> owner);
    /// The argument must live until the task has ended.
    void set_argument(void* argument, std::size_t size);

    /// Throws error when no worker can run the task.
    void submit();

  private:
    /// Throws error when no worker, or not the one that was named, can run the task.
    void check_worker() const;

    starpu_task* task_;
    unsigned n_ = 0;
    // its dependencies are declared when the task is submitted: StarPU keeps those of a task that never is
    task_options const* options_ = nullptr;
    struct owned_callback;
    owned_callback* callback_ = nullptr;
  };
}
