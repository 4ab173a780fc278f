#pragma once

#include "p2p_codelet.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/tasks.hpp>

namespace nearfield::starpu::detail
{
  /// The codelet of tasks with a list, in the one-sided or the mutual form:
  ///
  /// * one-sided: the targets of a group read all sources that they meet, out = sum K q, summed in the order of the
  ///   list. No other task writes these outputs.
  /// * mutual: each pair of a group's half list is evaluated once. Contributions to the group's own points are the
  ///   task's output, those to points of later groups its halo. No other task writes either.
  ///
  /// Their buffers are
  ///
  ///     list, out, [halo], the x of every source buffer, [x of the targets], the q of every source buffer
  ///
  /// with the halo only in the mutual form, and x of the targets only if these are another set than the
  /// sources. A list that a GPU has made is no buffer. Outputs are overwritten, or added to if the argument accumulates.
  template <class T>
  NEARFIELD_API starpu_codelet& list_codelet(pair_form form, kernel_type<T> const& k,
                                             backend_set backends);

  extern template starpu_codelet& list_codelet(pair_form, kernel_type<float> const&, backend_set);
  extern template starpu_codelet& list_codelet(pair_form, kernel_type<double> const&, backend_set);
}
