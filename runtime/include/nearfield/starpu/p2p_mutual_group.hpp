#pragma once

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/cuda_list_job.hpp>
#include <nearfield/starpu/list_job.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The pairs of a group's half list, each evaluated once. What its own points receive is its output;
  /// what points of later groups receive is its halo, which no other task writes to either.
  template <interaction K, kernel_real T>
  requires nearfield::detail::has_way_back<K>
  struct p2p_mutual_group_operation
  {
    using interaction_type = K;
    using real = T;
    static constexpr char const* name = "p2p_mutual_group";

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      list_job<K, T, true> task(*argument.head, buffers);
      for (int rhs = 0; rhs < task.n_rhs(); ++rhs)
      {
        p2p_job<T> job = task.job(*argument.k, rhs);
        job.ranges_may_coincide = argument.ranges_may_coincide;
        kernels.mutual(argument.k, job);
      }
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      cuda_list_job<K, T, true> task(*argument.head, buffers, stream);
      for (int rhs = 0; rhs < task.n_rhs(); ++rhs)
      {
        cuda_job<T> job = task.job(*argument.k, rhs);
        job.ranges_may_coincide = argument.ranges_may_coincide;
        check_cuda(kernels.mutual(argument.k, job), name);
      }
    }

    static double interactions(starpu_task*) { return 1; }
  };
}
