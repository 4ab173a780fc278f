#pragma once

// What docs/packages.md shows of an interaction that is compiled for every instruction set.

// [softened]
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

namespace my
{
  struct softened // 1 / sqrt(r^2 + eps2), and its gradient
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4, flops = 21;
    static constexpr auto name = "softened";
    static constexpr bool has_cuda = true; // for StarPU tasks on GPUs: see CUDA below
    double eps2 = 0;

    template <class V>
    NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r) const
        -> nearfield::value_radial<V, dim, -1> // a and -a c r
    {
      V const a = nearfield::rsqrt(dot(r, r) + V(eps2));
      return {a, a * a, r};
    }
  };
}

NEARFIELD_INTERACTION(my::softened)
// [softened]
