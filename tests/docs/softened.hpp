#pragma once

// What docs/packages.md shows of an interaction that is compiled for every instruction set.

// [softened]
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

namespace my
{
  struct softened // 1 / sqrt(r^2 + eps2)
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 9;
    static constexpr auto symmetry = nearfield::parity::even;
    static constexpr auto name = "softened";
    static constexpr bool has_cuda = true; // for StarPU tasks on GPUs: see CUDA below
    double eps2 = 0;

    template <class V>
    NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r) const -> nearfield::mat<V, 1, 1>
    {
      return {{{nearfield::rsqrt(dot(r, r) + V(eps2))}}};
    }
  };
}

NEARFIELD_INTERACTION(my::softened)
// [softened]
