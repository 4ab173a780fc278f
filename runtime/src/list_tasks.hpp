#pragma once

#include "columns.hpp"
#include "p2p_codelet.hpp"
#include "task_list.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/p2p/cuda_job.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/tasks.hpp>

namespace nearfield::starpu::detail
{
  /// The work of one group: its list, and the columns that the list refers to.
  template <class T>
  struct list_data
  {
    interaction_shape const& k;
    nearfield::detail::task_head const& head;
    nearfield::detail::task_list_view list;
    int n_rhs;
    columns<T> out{}, halo{}; ///< of all right-hand sides; no halo in the one-sided form
    /// by source buffer, x also that of the targets
    inline_vector<columns<T const>, std::size_t(most_source_allocations) + 1> x{}, q{};

    [[nodiscard]] std::size_t n_out_values() const
    {
      return std::size_t(out.n) * static_cast<std::size_t>(n_rhs * k.n_out);
    }
    [[nodiscard]] std::size_t n_halo_values() const
    {
      return std::size_t(halo.n) * static_cast<std::size_t>(n_rhs * k.n_out);
    }

    /// Sets what CPU and GPU jobs have in common.
    template <class Job>
    void set_common(Job& job, p2p_argument const& argument) const
    {
      static_cast<list_view&>(job) = list;
      job.n_rhs = n_rhs;
      job.own_is_self = head.target_buffer < head.n_sources;
      job.ranges_may_coincide = argument.ranges_may_coincide;
    }
  };

  /// Computes the sums of a group on the calling thread.
  template <class T>
  void run_list(p2p_function<T> kernel, p2p_argument const& argument, list_data<T> const& data);

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
