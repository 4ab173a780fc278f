#pragma once

#include <nearfield/starpu/array_job.hpp>
#include <nearfield/starpu/codelet.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j, from one evaluation a pair where K has a way back.
  template <interaction K, kernel_real T>
  struct p2p_inner_operation
  {
    using interaction_type = K;
    using real = T;
    static constexpr char const* name = "p2p_inner";
    static constexpr std::initializer_list<starpu_data_access_mode> modes = {
        STARPU_R, STARPU_R, starpu_data_access_mode(STARPU_RW | STARPU_COMMUTE)};

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      array_side<K, T> points(name, buffers[0], buffers[1], buffers[2]);
      run_box(name, kernels.mutual ? kernels.mutual : kernels.one_sided, argument.k, points,
              points);
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      array_side<K, T> points(name, buffers[0], buffers[1], buffers[2]);
      run_box(name, kernels.mutual ? kernels.mutual : kernels.gather, argument.k, points, points,
              stream);
    }

    static double interactions(starpu_task* task)
    {
      return points_of<K::n_out>(STARPU_TASK_GET_HANDLE(task, 2)) *
             (points_of<K::dim>(STARPU_TASK_GET_HANDLE(task, 0)) - 1);
    }
  };
}
