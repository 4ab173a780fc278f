#include <nearfield/starpu/task.hpp>

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/check.hpp>

#include <algorithm>
#include <cstdlib>

namespace nearfield::starpu::detail
{
  task::task(starpu_codelet& codelet, unsigned n_buffers) : task_(starpu_task_create())
  {
    task_->cl = &codelet;
    task_->name = codelet.name;
    if (codelet.nbuffers != STARPU_VARIABLE_NBUFFERS) return;
    task_->nbuffers = static_cast<int>(n_buffers);
    if (n_buffers <= STARPU_NMAXBUFS) return;
    // StarPU frees them with the task
    task_->dyn_handles =
        static_cast<starpu_data_handle_t*>(std::malloc(n_buffers * sizeof(starpu_data_handle_t)));
    task_->dyn_modes = static_cast<starpu_data_access_mode*>(
        std::malloc(n_buffers * sizeof(starpu_data_access_mode)));
    if (task_->dyn_handles && task_->dyn_modes) return;
    task_->destroy = 0;
    starpu_task_destroy(task_);
    throw error("StarPU: no memory for a task of " + std::to_string(n_buffers) +
                " buffers; take more leaves per group");
  }

  task::~task()
  {
    if (!task_) return;
    task_->destroy = 0;
    starpu_task_destroy(task_);
  }

  void task::add(starpu_data_handle_t data, starpu_data_access_mode mode)
  {
    STARPU_TASK_SET_HANDLE(task_, data, n_);
    if (task_->cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
      (task_->dyn_modes ? task_->dyn_modes : task_->modes)[n_] = mode;
    ++n_;
  }

  void task::set_priority(int priority)
  {
    task_->priority =
        std::clamp(priority, starpu_sched_get_min_priority(), starpu_sched_get_max_priority());
  }

  void task::set_argument(void* argument, std::size_t size)
  {
    task_->cl_arg = argument;
    task_->cl_arg_size = size;
  }

  void task::submit()
  {
    // StarPU may run the task and free it before the call returns
    std::string const what =
        "starpu_task_submit(" + std::string(task_->name ? task_->name : "task") + ")";
    check(starpu_task_submit(task_), what);
    task_ = nullptr;
  }
}
