#pragma once

#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/list_job.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The targets of a group read all sources that they meet: out = sum K q. No other task writes to
  /// these outputs, and the order of summation is that of the list.
  template <interaction K, kernel_real T>
  struct p2p_gather_operation
  {
    using interaction_type = K;
    using real = T;
    static constexpr char const* name = "p2p_gather";
    static constexpr std::initializer_list<starpu_data_access_mode> modes = {};

    static void run(p2p_kernels<T> const& kernels, K const& k, void** buffers,
                    bool ranges_may_coincide)
    {
      list_job<K, T, false> task(buffers);
      for (int rhs = 0; rhs < task.n_rhs(); ++rhs)
      {
        p2p_job<T> job = task.job(k, rhs);
        job.ranges_may_coincide = ranges_may_coincide;
        kernels.one_sided(&k, job);
      }
    }

    static double interactions(starpu_task*) { return 1; }
  };
}
