#pragma once

#include <nearfield/starpu/array_job.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y.
  template <interaction K, kernel_real T>
  struct p2p_outer_operation : array_operation<p2p_outer_operation<K, T>, K, T>
  {
    static constexpr char const* name = "p2p_outer";
    static constexpr p2p_buffers::layout layout = {
        .roles = 4, .coordinates = 2 * K::dim, .values = K::n_in + K::n_out};

    /// x, y, q, out
    struct sides
    {
      explicit sides(p2p_buffers& from)
      {
        of_x.take_x(from, "x");
        of_y.take_x(from, "y");
        of_y.take_q(from, "q");
        of_x.take_out(from, "out");
      }
      array_side<K, T>& targets() { return of_x; }
      array_side<K, T>& sources() { return of_y; }

      array_side<K, T> of_x, of_y;
    };

    static auto kernel(p2p_kernels<T> const& kernels) { return kernels.one_sided; }
    static auto kernel(cuda_kernels<T> const& kernels) { return kernels.gather; }
    static double pairs(double n_targets, double n_sources) { return n_targets * n_sources; }
  };
}
