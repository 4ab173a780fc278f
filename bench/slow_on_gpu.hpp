#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

namespace bench
{
  /// 1/r whose CUDA kernels make Products more multiplications for each pair, by 1, so that its values stay. An
  /// H100 takes about 20 times as long for 240, and 200 times for 2400: to see steps shared between cores and a GPU
  /// of such a rate.
  template <int Products>
  struct slow_on_gpu
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 9;
    static constexpr auto symmetry = nearfield::parity::even;
    static constexpr auto name = Products < 1000 ? "one_over_r_slow" : "one_over_r_slower";
    static constexpr bool has_cuda = true;
    double one = 1; ///< known at run time only, or the compiler would leave the products out

    template <class V>
    NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const&, V const& inv_r) const
        -> nearfield::mat<V, 1, 1>
    {
      V value = inv_r;
#if defined(__CUDA_ARCH__)
#pragma unroll 8
      for (int i = 0; i < Products; ++i) value = value * V(one);
#endif
      return {{{value}}};
    }
  };

  // for nearfield_add_interaction
  using one_over_r_slow = slow_on_gpu<240>;
  using one_over_r_slower = slow_on_gpu<2400>;
}

NEARFIELD_INTERACTION(bench::one_over_r_slow)
NEARFIELD_INTERACTION(bench::one_over_r_slower)
