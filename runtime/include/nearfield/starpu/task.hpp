#pragma once

#include <nearfield/core/api.hpp>

#include <starpu.h>

#include <string>

namespace nearfield::starpu::detail
{
  /// A StarPU task under construction, of any number of buffers; destroyed unless it is submitted.
  class NEARFIELD_API task
  {
  public:
    /// Throws error when StarPU has no memory for it.
    task(starpu_codelet& codelet, unsigned n_buffers);
    task(task const&) = delete;
    task& operator=(task const&) = delete;
    ~task();

    void add(starpu_data_handle_t data, starpu_data_access_mode mode);
    /// Where the priority of the scheduler ends is where this one is cut.
    void set_priority(int priority);
    /// The argument must live until the task has ended.
    void set_argument(void* argument, std::size_t size);

    /// Throws error when no worker can run the task.
    void submit();

  private:
    starpu_task* task_;
    unsigned n_ = 0;
  };
}
