#pragma once

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/cuda_list_job.hpp>
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

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      list_job<K, T, false> task(*argument.head, buffers);
      for (int rhs = 0; rhs < task.n_rhs(); ++rhs)
      {
        p2p_job<T> job = task.job(*argument.k, rhs);
        job.ranges_may_coincide = argument.ranges_may_coincide;
        kernels.one_sided(argument.k, job);
      }
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      cuda_list_job<K, T, false> task(*argument.head, buffers, stream);
      for (int rhs = 0; rhs < task.n_rhs(); ++rhs)
      {
        cuda_job<T> job = task.job(*argument.k, rhs);
        job.ranges_may_coincide = argument.ranges_may_coincide;
        check_cuda(kernels.gather(argument.k, job), name);
      }
    }

    static double interactions(starpu_task*) { return 1; }
  };
}
