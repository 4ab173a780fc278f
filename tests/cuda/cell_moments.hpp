#pragma once

#include <nearfield/core/interaction.hpp>

#include <array>

namespace nearfield::test
{
  /// K(r) = [1; r]: how many points meet, and where they are. Sums are exact for whole numbers, so that two lists have the
  /// same pairs in the same images if they have the same bits.
  template <int Dim>
  struct moments
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1 + Dim, flops = Dim;
    static constexpr auto symmetry = []
    {
      std::array<parity, 1 + Dim> of;
      of.fill(parity::odd);
      of[0] = parity::even;
      return of;
    }();
    static constexpr auto name = "moments";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
    {
      mat<V, n_out, n_in> of;
      of.data[0][0] = V(1);
      for (int a = 0; a < Dim; ++a) of.data[1 + a][0] = r[a];
      return of;
    }
  };
}
