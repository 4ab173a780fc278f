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

    static void run(p2p_kernels<T> const& kernels, K const& k, void** buffers)
    {
      array_side<K, T> points(name, buffers[0], buffers[1], buffers[2]);
      nearfield::detail::single_box<T, K> const box(points.size(), points.size());
      p2p_job<T> job = box.job(k);
      job.own_is_self = true;
      for (int rhs = 0; rhs < points.n_rhs(); ++rhs)
      {
        points.select(rhs);
        points.as_targets(job);
        points.as_sources(job);
        (kernels.mutual ? kernels.mutual : kernels.one_sided)(&k, job);
      }
    }

    static double interactions(starpu_task* task)
    {
      return points_of<K::n_out>(STARPU_TASK_GET_HANDLE(task, 2)) *
             (points_of<K::dim>(STARPU_TASK_GET_HANDLE(task, 0)) - 1);
    }
  };
}
