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
  /// The kinds of tasks.
  enum class array_form
  {
    inner,
    outer,
    outer_mutual
  };

  namespace
  {
    /// By array_form.
    constexpr p2p_form forms[] = {{"p2p_inner", p2p_roles::inner},
                                  {"p2p_outer", p2p_roles::outer},
                                  {"p2p_outer_mutual", p2p_roles::outer_mutual}};

    /// Gives a job the columns of both sides.
    template <class T, class Job>
    void set_columns(p2p_sides<T> const& both, Job& job)
    {
      auto const &targets = both.targets(), &sources = both.sources();
      job.n_rhs = both.n_rhs();
      job.own_is_self = both.is_one();
      job.target_x = targets[p2p_roles::x];
      job.target_q = targets[p2p_roles::q];
      job.target_out = targets[p2p_roles::out];
      job.source_x = sources[p2p_roles::x];
      job.source_q = sources[p2p_roles::q];
      if constexpr (requires { job.source_out; })
        job.source_out = sources[p2p_roles::out];
      else if (!both.is_one())
        job.halo_out = sources[p2p_roles::out];
    }

    /// The codelet of tasks on arrays.
    template <class T>
    class array_tasks : public p2p_codelet<T>
    {
    public:
      array_tasks(codelet::description const& what, kernel_type<T> const& k, array_form form)
          : p2p_codelet<T>(what, k), form_(form)
      {}

      /// What p2p_sides is made of after its form. Throws nearfield::error for what the task would refuse.
      template <class... Buffers>
      [[nodiscard]] p2p_sides<T> sides(Buffers... of) const
      {
        return {forms[static_cast<int>(form_)], this->shape(), of...};
      }

    private:
      /// 0 if the task will throw.
      [[nodiscard]] double work_of(starpu_task* task) const noexcept override
      {
        try
        {
          return sides(task).pairs();
        }
        catch (...)
        {
          return 0;
        }
      }

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<p2p_argument const&>(task.argument);
        p2p_sides<T> const both = sides(starpu_task_get_current(), task.buffers);
        index_type const n_targets = both.targets().n, n_sources = both.sources().n;
        if (n_targets == 0 || n_sources == 0) return;
        auto const kernel_of = [&](auto const& kernels)
        {
          return form_ != array_form::outer && kernels.mutual ? kernels.mutual : kernels.one_sided;
        };
        if (task.on == implementation::cuda)
        {
          auto const kernel = kernel_of(this->gpu_kernels());
          nearfield::detail::cuda_job<T> job;
          job.singular = argument.is_singular;
          job.stream = task.stream;
          job.n_targets = n_targets;
          job.n_sources = n_sources;
          set_columns(both, job);
          check_cuda(kernel(argument.k, job), this->name);
        }
        else
        {
          auto const kernel = kernel_of(this->cpu_kernels(task.on));
          // one box, whose own sources are all sources
          index_type const box_offsets[] = {0, n_targets}, no_ranges[] = {0, 0};
          interaction_list::range const own{.end = n_sources}, no_range;
          nearfield::detail::p2p_job<T> job;
          job.box_offsets = box_offsets;
          job.own = &own;
          job.range_offsets = no_ranges;
          job.ranges = &no_range;
          job.last_box = 1;
          job.tests_for_zero = argument.tests_for_zero;
          set_columns(both, job);
          kernel(argument.k, job);
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
  template <nearfield::detail::kernel_real T>
  struct p2p_tasks<T>::shared
  {
    shared(detail::kernel<T> const& of, backend_set which)
        : k(of), backends(which), argument(detail::argument_of(k, &watch))
    {
      for (array_form const form : {array_form::inner, array_form::outer, array_form::outer_mutual})
        if (form != array_form::outer_mutual || k.type->has_way_back)
          codelets[static_cast<int>(form)] =
              &detail::p2p_codelet<T>::template of<detail::array_tasks<T>>(
                  detail::forms[static_cast<int>(form)].task, *k.type, backends, form);
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

  template <nearfield::detail::kernel_real T>
  p2p_tasks<T>::p2p_tasks(detail::kernel<T> const& k, backend_set backends)
      : shared_(std::make_shared<shared>(k, backends))
  {}

  template <nearfield::detail::kernel_real T>
  p2p_tasks<T>::~p2p_tasks()
  {
    if (detail::is_running() && starpu_worker_get_id() < 0) shared_->watch.wait();
  }

  template <nearfield::detail::kernel_real T>
  starpu_codelet* p2p_tasks<T>::inner() const
  {
    return &shared_->codelet(array_form::inner);
  }
  template <nearfield::detail::kernel_real T>
  starpu_codelet* p2p_tasks<T>::outer() const
  {
    return &shared_->codelet(array_form::outer);
  }
  template <nearfield::detail::kernel_real T>
  starpu_codelet* p2p_tasks<T>::outer_mutual() const
  {
    return &shared_->codelet(array_form::outer_mutual);
  }

  template <nearfield::detail::kernel_real T>
  void* p2p_tasks<T>::argument()
  {
    return &shared_->argument;
  }
  template <nearfield::detail::kernel_real T>
  std::size_t p2p_tasks<T>::argument_size() const
  {
    return sizeof(shared_->argument);
  }

  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::insert_inner(box_handles const& box, task_options const& options)
  {
    insert(array_form::inner, {&box.x, &box.q, &box.out}, options);
  }
  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::insert_outer(box_handles::targets const& targets,
                                  box_handles::sources const& sources, task_options const& options)
  {
    insert(array_form::outer, {&targets.x, &sources.x, &sources.q, &targets.out}, options);
  }
  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::insert_outer_mutual(box_handles const& one, box_handles const& other,
                                         task_options const& options)
  {
    insert(array_form::outer_mutual, {&one.x, &other.x, &one.q, &other.q, &one.out, &other.out},
           options);
  }

  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::insert(detail::array_form form,
                            std::initializer_list<detail::column_handles const*> roles,
                            task_options const& options)
  {
    detail::array_tasks<T>& codelet = shared_->codelet(form);
    detail::task one(codelet, shared_->argument);
    // throws now what the task would throw later
    codelet.sides(std::span(roles.begin(), roles.size())).add_buffers_to(one);
    one.set_options(options);
    one.set_owner({shared_, &shared_->watch});
    one.submit();
  }

  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::wait()
  {
    detail::wait_for_all_tasks();
    rethrow();
  }
  template <nearfield::detail::kernel_real T>
  void p2p_tasks<T>::rethrow()
  {
    shared_->watch.rethrow();
  }
  template <nearfield::detail::kernel_real T>
  std::vector<monitor::worker_tasks> p2p_tasks<T>::statistics() const
  {
    return detail::statistics_of(shared_->watch, *shared_->k.type);
  }

  template class p2p_tasks<float>;
  template class p2p_tasks<double>;
}
