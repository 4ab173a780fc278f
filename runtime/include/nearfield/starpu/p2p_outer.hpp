#pragma once

#include <nearfield/starpu/array_job.hpp>
#include <nearfield/starpu/codelet.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y.
  template <interaction K, kernel_real T>
  struct p2p_outer_operation
  {
    using interaction_type = K;
    using real = T;
    static constexpr char const* name = "p2p_outer";
    static constexpr std::initializer_list<starpu_data_access_mode> modes = {
        STARPU_R, STARPU_R, STARPU_R, starpu_data_access_mode(STARPU_RW | STARPU_COMMUTE)};

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      array_side<K, T> targets(name, buffers[0], nullptr, buffers[3]);
      array_side<K, T> sources(name, buffers[1], buffers[2], nullptr);
      run_box(name, kernels.one_sided, argument.k, targets, sources);
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      array_side<K, T> targets(name, buffers[0], nullptr, buffers[3]);
      array_side<K, T> sources(name, buffers[1], buffers[2], nullptr);
      run_box(name, kernels.gather, argument.k, targets, sources, stream);
    }

    static double interactions(starpu_task* task)
    {
      return points_of<K::n_out>(STARPU_TASK_GET_HANDLE(task, 3)) *
             points_of<K::dim>(STARPU_TASK_GET_HANDLE(task, 1));
    }
  };
}
