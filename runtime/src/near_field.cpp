#include "step.hpp"

namespace nearfield::starpu
{
  template <kernel_real T>
  near_field<T>::near_field(runtime const& starpu, leaf_groups_view const& groups,
                            detail::kernel<T> const& k, detail::step_columns<T> const& columns,
                            near_field_options const& options)
      : step_(std::make_unique<detail::step<T>>(starpu, groups, k, columns, options))
  {}

  template <kernel_real T>
  near_field<T>::~near_field() = default;

  template <kernel_real T>
  void near_field<T>::submit()
  {
    step_->submit();
  }
  template <kernel_real T>
  void near_field<T>::deliver()
  {
    step_->deliver();
  }
  template <kernel_real T>
  void near_field<T>::wait()
  {
    step_->wait();
  }
  template <kernel_real T>
  void near_field<T>::wait_for_inputs()
  {
    step_->wait_for_inputs();
  }
  template <kernel_real T>
  void near_field<T>::positions_changed()
  {
    step_->positions_changed();
  }
  template <kernel_real T>
  void near_field<T>::inputs_changed()
  {
    step_->inputs_changed();
  }
  template <kernel_real T>
  form_choice near_field<T>::form() const
  {
    return step_->form();
  }
  template <kernel_real T>
  std::size_t near_field<T>::n_tasks() const
  {
    return step_->n_tasks();
  }
  template <kernel_real T>
  std::vector<worker_tasks> near_field<T>::statistics() const
  {
    return step_->statistics();
  }

  template class near_field<float>;
  template class near_field<double>;
}
