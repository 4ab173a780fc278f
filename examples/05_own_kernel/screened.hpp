#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

/// K(r) = exp(-|r| / length) / |r|, a screened (Yukawa) potential.
struct screened
{
  static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 14;
  static constexpr auto symmetry = nearfield::parity::even;
  static constexpr auto name = "screened";
  double length = 1;

  // radial: the loop computes 1/|r|, and passes 0 if |r| = 0
  template <class V>
  NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r, V const& inv_r) const
      -> nearfield::mat<V, 1, 1>
  {
    return {{{inv_r * nearfield::exp(V(-1 / length) * (dot(r, r) * inv_r))}}};
  }
};

NEARFIELD_INTERACTION(screened)
