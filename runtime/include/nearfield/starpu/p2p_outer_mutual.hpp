#pragma once

#include <nearfield/starpu/array_job.hpp>
#include <nearfield/starpu/codelet.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Both sides of p2p_outer from one evaluation a pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i.
  /// Tasks with two outputs wait for each other unless the outputs share an arbiter.
  template <interaction K, kernel_real T>
  requires nearfield::detail::has_way_back<K>
  struct p2p_outer_mutual_operation
  {
    using interaction_type = K;
    using real = T;
    static constexpr char const* name = "p2p_outer_mutual";
    static constexpr auto commute = starpu_data_access_mode(STARPU_RW | STARPU_COMMUTE);
    static constexpr std::initializer_list<starpu_data_access_mode> modes = {
        STARPU_R, STARPU_R, commute, STARPU_R, STARPU_R, commute};

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      array_side<K, T> x(name, buffers[0], buffers[1], buffers[2]);
      array_side<K, T> y(name, buffers[3], buffers[4], buffers[5]);
      run_box(name, kernels.mutual, argument.k, x, y);
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      array_side<K, T> x(name, buffers[0], buffers[1], buffers[2]);
      array_side<K, T> y(name, buffers[3], buffers[4], buffers[5]);
      run_box(name, kernels.mutual, argument.k, x, y, stream);
    }

    static double interactions(starpu_task* task)
    {
      return 2. * points_of<K::n_out>(STARPU_TASK_GET_HANDLE(task, 2)) *
             points_of<K::dim>(STARPU_TASK_GET_HANDLE(task, 3));
    }
  };
}
