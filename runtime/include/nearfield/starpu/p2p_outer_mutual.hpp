#pragma once

#include <nearfield/starpu/array_job.hpp>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Both sides of p2p_outer from one evaluation a pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i.
  /// Tasks with two outputs wait for each other unless the outputs share an arbiter.
  template <interaction K, kernel_real T>
  requires nearfield::detail::has_way_back<K>
  struct p2p_outer_mutual_operation : array_operation<p2p_outer_mutual_operation<K, T>, K, T>
  {
    static constexpr char const* name = "p2p_outer_mutual";
    static constexpr p2p_buffers::layout layout = {
        .roles = 6, .coordinates = 2 * K::dim, .values = 2 * (K::n_in + K::n_out)};

    /// x, x_q, x_out, y, y_q, y_out
    struct sides
    {
      explicit sides(p2p_buffers& from)
      {
        of_x.take_x(from, "x");
        of_x.take_q(from, "x_q");
        of_x.take_out(from, "x_out");
        of_y.take_x(from, "y");
        of_y.take_q(from, "y_q");
        of_y.take_out(from, "y_out");
      }
      array_side<K, T>& targets() { return of_x; }
      array_side<K, T>& sources() { return of_y; }

      array_side<K, T> of_x, of_y;
    };

    template <class Kernels>
    static auto kernel(Kernels const& kernels)
    {
      return kernels.mutual;
    }
    static double pairs(double n_targets, double n_sources) { return 2 * n_targets * n_sources; }
  };
}
