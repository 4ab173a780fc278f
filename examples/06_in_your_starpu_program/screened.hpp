// [interaction]
// screened.hpp
#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/every_isa.hpp>

/// K(r) = exp(-|r| / length) / |r|
struct screened
{
  static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 14;
  static constexpr auto symmetry = nearfield::parity::even; // K(-r) = K(r)
  static constexpr auto name = "screened";
  double length = 1;

  template <class V>
  NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r, V const& inv_r) const
      -> nearfield::mat<V, 1, 1>
  {
    return {{{inv_r * nearfield::exp(dot(r, r) * inv_r * (-1 / length))}}};
  }
};

NEARFIELD_INTERACTION(screened)
// [interaction]
