#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

namespace my
{
  /// A user's interaction: 1 / sqrt(r^2 + eps2).
  struct softened
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 9;
    static constexpr auto symmetry = nearfield::parity::even;
    static constexpr auto name = "softened";
    double eps2;

    template <class V>
    NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r) const -> nearfield::mat<V, 1, 1>
    {
      return {{{nearfield::rsqrt(dot(r, r) + V(eps2))}}};
    }
  };
}

#if defined(WITH_every_isa) // by nearfield_add_interaction(); otherwise in the file that uses it
NEARFIELD_INTERACTION(my::softened)
#endif
