#pragma once

#include <nearfield/starpu/array_job.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j, from one evaluation a pair where K has a way back.
  template <interaction K, kernel_real T>
  struct p2p_inner_operation : array_operation<p2p_inner_operation<K, T>, K, T>
  {
    static constexpr char const* name = "p2p_inner";
    static constexpr p2p_buffers::layout layout = {
        .roles = 3, .coordinates = K::dim, .values = K::n_in + K::n_out};

    /// x, q, out
    struct sides
    {
      explicit sides(p2p_buffers& from)
      {
        points.take_x(from, "x");
        points.take_q(from, "q");
        points.take_out(from, "out");
      }
      array_side<K, T>& targets() { return points; }
      array_side<K, T>& sources() { return points; }

      array_side<K, T> points;
    };

    static auto kernel(p2p_kernels<T> const& kernels)
    {
      return kernels.mutual ? kernels.mutual : kernels.one_sided;
    }
    static auto kernel(cuda_kernels<T> const& kernels)
    {
      return kernels.mutual ? kernels.mutual : kernels.gather;
    }
    static double pairs(double n, double) { return n * (n - 1); }
  };
}
