#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

// An interaction as a user has it compiled for every instruction set, by nearfield_add_interaction().

namespace nearfield::test
{
  /// K(r) = exp(-|r| / length) / |r|
  template <int Dim>
  struct screened
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1, flops = 14;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "screened";
    static constexpr bool has_cuda = true;
    double length = 1;
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{inv_r * nearfield::exp(V(-1 / length) * (dot(r, r) * inv_r))}}};
    }
  };
}

NEARFIELD_INTERACTION(nearfield::test::screened<3>)
