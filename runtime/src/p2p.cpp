#include <nearfield/starpu/p2p.hpp>

#include "environment.hpp"
#include "p2p_codelet.hpp"
#include "p2p_sides.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/job.hpp>

#include <array>
#include <span>
#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    constexpr char const* names[] = {"p2p_inner", "p2p_outer", "p2p_outer_mutual"}; ///< by form

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

    /// The codelet of tasks on arrays.
    template <class T>
    class array_tasks : public p2p_codelet<T>
    {
    public:
      array_tasks(codelet::description const& what, kernel_type<T> const& k, array_form form)
          : p2p_codelet<T>(what, k), form_(form)
      {}

      /// The number of directed pairs of a task, of these handles or started, times that of right-hand sides. Throws
      /// nearfield::error for handles that the task would refuse.
      template <class Handles>
      [[nodiscard]] double pairs(Handles const& of) const
      {
        p2p_buffers from(this->name, layout_of(form_, this->shape()), of);
        return sides(form_, this->shape(), sizeof(T), from).pairs();
      }

    private:
      /// 0 if the task will throw.
      [[nodiscard]] double work_of(starpu_task* task) const noexcept override
      {
        try
        {
          return pairs(task);
        }
        catch (...)
        {
          return 0;
        }
      }

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<p2p_argument const&>(task.argument);
        interaction_shape const& k = this->shape();
        p2p_buffers from(this->name, layout_of(form_, k), task.buffers);
        sides const both(form_, k, sizeof(T), from);
        index_type const n_targets = both.targets().x.size(), n_sources = both.sources().x.size();
        auto const kernel_of = [&](auto const& kernels)
        {
          return form_ != array_form::outer && kernels.mutual ? kernels.mutual : kernels.one_sided;
        };
        if (task.on == implementation::cuda)
        {
          auto const kernel = kernel_of(this->gpu_kernels());
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
          auto const kernel = kernel_of(this->cpu_kernels(task.on));
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
          launch_columns<T>(both, k, job,
                            [&](p2p_job<T> const& ready) { kernel(argument.k, ready); });
        }
      }

      array_form form_;
    };
  }
}

namespace nearfield::starpu
{
  using detail::array_form;

  /// Shared with the tasks, which may outlive the object.
  template <kernel_real T>
  struct p2p_tasks<T>::shared
  {
    shared(detail::kernel<T> const& of, backend_set which)
        : k(of), backends(which), argument(detail::argument_of(k, &watch))
    {
      for (array_form const form : {array_form::inner, array_form::outer, array_form::outer_mutual})
        if (form != array_form::outer_mutual || k.type->has_way_back)
          codelets[static_cast<int>(form)] =
              &detail::p2p_codelet<T>::template of<detail::array_tasks<T>>(
                  detail::names[static_cast<int>(form)], *k.type, backends, form);
    }

    /// Throws nearfield::error as check_cuda_backend() does, and if the interaction has no such form.
    detail::array_tasks<T>& codelet(array_form form) const
    {
      if (backends.names_cuda()) detail::check_cuda_backend(*k.type, backends);
      auto* const found = codelets[static_cast<int>(form)];
      if (!found)
        throw error("p2p_outer_mutual: " + std::string(k.type->name) +
                    " has no mutual form; insert an outer task for each side");
      return *found;
    }

    detail::kernel<T> const k;
    backend_set const backends;
    monitor watch;
    detail::p2p_argument argument;
    std::array<detail::array_tasks<T>*, 3> codelets{};
  };

  template <kernel_real T>
  p2p_tasks<T>::p2p_tasks(detail::kernel<T> const& k, backend_set backends)
      : shared_(std::make_shared<shared>(k, backends))
  {}

  template <kernel_real T>
  p2p_tasks<T>::~p2p_tasks()
  {
    if (detail::is_running() && starpu_worker_get_id() < 0) shared_->watch.wait();
  }

  template <kernel_real T>
  starpu_codelet* p2p_tasks<T>::inner() const
  {
    return &shared_->codelet(array_form::inner);
  }
  template <kernel_real T>
  starpu_codelet* p2p_tasks<T>::outer() const
  {
    return &shared_->codelet(array_form::outer);
  }
  template <kernel_real T>
  starpu_codelet* p2p_tasks<T>::outer_mutual() const
  {
    return &shared_->codelet(array_form::outer_mutual);
  }

  template <kernel_real T>
  void* p2p_tasks<T>::argument()
  {
    return &shared_->argument;
  }
  template <kernel_real T>
  std::size_t p2p_tasks<T>::argument_size() const
  {
    return sizeof(shared_->argument);
  }

  template <kernel_real T>
  void p2p_tasks<T>::insert_inner(box_handles const& box, task_options const& options)
  {
    insert(array_form::inner, {{box.x.get()}, {box.q.get()}, {box.out.get(), true}}, options);
  }
  template <kernel_real T>
  void p2p_tasks<T>::insert_outer(target_handles const& targets, source_handles const& sources,
                                  task_options const& options)
  {
    insert(array_form::outer,
           {{targets.x.get()}, {sources.x.get()}, {sources.q.get()}, {targets.out.get(), true}},
           options);
  }
  template <kernel_real T>
  void p2p_tasks<T>::insert_outer_mutual(box_handles const& one, box_handles const& other,
                                         task_options const& options)
  {
    insert(array_form::outer_mutual,
           {{one.x.get()},
            {other.x.get()},
            {one.q.get()},
            {other.q.get()},
            {one.out.get(), true},
            {other.out.get(), true}},
           options);
  }

  template <kernel_real T>
  void p2p_tasks<T>::insert(detail::array_form form,
                            std::initializer_list<detail::p2p_handles> roles,
                            task_options const& options)
  {
    detail::array_tasks<T>& codelet = shared_->codelet(form);
    detail::task one(codelet, shared_->argument);
    // throws now what the task would throw later
    static_cast<void>(codelet.pairs(std::span(roles.begin(), roles.size())));
    for (auto const& role : roles)
      for (starpu_data_handle_t const data : role.handles) one.add(data, role.mode());
    one.set_options(options);
    one.set_owner({shared_, &shared_->watch});
    one.submit();
  }

  template <kernel_real T>
  void p2p_tasks<T>::wait()
  {
    detail::wait_for_all_tasks();
    rethrow();
  }
  template <kernel_real T>
  void p2p_tasks<T>::rethrow()
  {
    shared_->watch.rethrow();
  }
  template <kernel_real T>
  std::vector<worker_tasks> p2p_tasks<T>::statistics() const
  {
    return detail::statistics_of(shared_->watch, *shared_->k.type);
  }

  template class p2p_tasks<float>;
  template class p2p_tasks<double>;
}
