#include "array_tasks.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda_job.hpp>

#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    char const* name_of(array_form form)
    {
      switch (form)
      {
      case array_form::inner:
        return "p2p_inner";
      case array_form::outer:
        return "p2p_outer";
      default:
        return "p2p_outer_mutual";
      }
    }

    /// Calls launch(job) with the columns of both sides in the job; not at all if a side has no points.
    template <class T, class Job, class Launch>
    void launch_columns(sides const& both, interaction_shape const& k, Job job,
                        Launch const& launch)
    {
      job.n_rhs = both.n_rhs();
      if (job.n_rhs == 0) return;
      side_columns<T> const targets(both.targets(), k, job.n_rhs),
          sources(both.sources(), k, job.n_rhs);
      job.own_is_self = both.is_one();
      job.target_x = targets.x.data();
      job.target_q = targets.inputs();
      job.target_out = targets.outputs();
      job.source_x = sources.x.data();
      job.source_q = sources.inputs();
      if constexpr (requires { job.source_out; })
        job.source_out = sources.outputs();
      else if (!both.is_one())
        job.halo_out = sources.outputs();
      launch(job);
    }
  }

  template <class T>
  array_tasks<T>& array_tasks<T>::of(array_form form, kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<array_tasks>(name_of(form), k, backends, form);
  }

  template <class T>
  void array_tasks<T>::run(running_task const& task) const
  {
    auto const& argument = static_cast<p2p_argument const&>(task.argument);
    interaction_shape const& k = this->shape();
    p2p_buffers from(this->name, layout_of(form_, k), task.buffers);
    sides const both(form_, k, sizeof(T), from);
    index_type const n_targets = both.targets().x.size(), n_sources = both.sources().x.size();
    bool const may_be_mutual = form_ != array_form::outer;
    if (task.on == implementation::cuda)
    {
      cuda_kernels<T> const& kernels = this->gpu_kernels();
      auto const kernel = may_be_mutual && kernels.mutual ? kernels.mutual : kernels.one_sided;
      cuda_job<T> job;
      job.singular = argument.is_singular;
      job.stream = task.stream;
      job.n_targets = n_targets;
      job.n_sources = n_sources;
      launch_columns<T>(both, k, job,
                        [&](cuda_job<T> const& ready)
                        { check_cuda(kernel(argument.k, ready), this->name); });
    }
    else
    {
      p2p_kernels<T> const& kernels = this->cpu_kernels(task.on);
      auto const kernel = may_be_mutual && kernels.mutual ? kernels.mutual : kernels.one_sided;
      // one box, whose own sources are all sources
      index_type const box_offsets[] = {0, n_targets}, no_ranges[] = {0, 0};
      source_range const own{.end = n_sources}, no_range;
      p2p_job<T> job;
      job.box_offsets = box_offsets;
      job.own = &own;
      job.range_offsets = no_ranges;
      job.ranges = &no_range;
      job.last_box = 1;
      job.tests_for_zero = argument.tests_for_zero;
      launch_columns<T>(both, k, job, [&](p2p_job<T> const& ready) { kernel(argument.k, ready); });
    }
  }

  template <class T>
  double array_tasks<T>::pairs(std::span<p2p_handles const> roles) const
  {
    p2p_buffers from(this->name, layout_of(form_, this->shape()), roles);
    return sides(form_, this->shape(), sizeof(T), from).pairs();
  }

  template <class T>
  double array_tasks<T>::work_of(starpu_task* task) const noexcept
  {
    try
    {
      p2p_buffers from(this->name, layout_of(form_, this->shape()), task);
      return sides(form_, this->shape(), sizeof(T), from).pairs();
    }
    catch (...)
    {
      return 0;
    }
  }

  template class array_tasks<float>;
  template class array_tasks<double>;
}
