#include <nearfield/starpu/p2p.hpp>

#include "array_tasks.hpp"
#include "environment.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>

#include <array>
#include <string>

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
          codelets[static_cast<int>(form)] = &detail::array_tasks<T>::of(form, *k.type, backends);
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
    std::size_t n = 0;
    for (auto const& role : roles) n += role.handles.size();
    detail::array_tasks<T>& codelet = shared_->codelet(form);
    detail::task one(codelet, static_cast<unsigned>(n));
    // throws now what the task would throw later
    static_cast<void>(codelet.pairs({roles.begin(), roles.size()}));
    for (auto const& role : roles)
      for (starpu_data_handle_t const data : role.handles) one.add(data, role.mode());
    one.set_argument(&shared_->argument, sizeof(shared_->argument));
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
