#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/starpu/backends.hpp>
#include <nearfield/starpu/kernel_of.hpp>

namespace nearfield::starpu::detail
{
  /// What a task does with its list.
  enum class list_form
  {
    /// The targets of a group read all sources that they meet: out = sum K q. No other task writes to
    /// these outputs, and the order of summation is that of the list.
    gather,
    /// The pairs of a group's half list, each evaluated once. What its own points receive is its output;
    /// what points of later groups receive is its halo, which no other task writes to either.
    mutual
  };

  /// The codelet of tasks with a list, whose buffers are
  ///
  ///     list, out, [halo], the x of every source buffer, [x of the targets], the q of every source buffer
  ///
  /// The halo is there in the mutual form, x of the targets where they are no sources. Outputs are written.
  template <class T>
  NEARFIELD_API starpu_codelet& list_codelet(list_form form, kernel_type<T> const& k,
                                             backend_set backends);

  extern template starpu_codelet& list_codelet(list_form, kernel_type<float> const&, backend_set);
  extern template starpu_codelet& list_codelet(list_form, kernel_type<double> const&, backend_set);
}
