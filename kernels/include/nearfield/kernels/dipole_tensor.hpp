#pragma once

#include <nearfield/core/interaction.hpp>

namespace nearfield
{
  /// K(r) = 3 r r^T / |r|^5 - I / |r|^3, the field of a point dipole q. Singular.
  ///
  /// The Kokkos P2P study of the CONCACE team, from which the list of built-in interactions comes,
  /// prints I / |r|, which is dimensionally inconsistent. The field of a dipole has I / |r|^3 (J.
  /// D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.13, without its 1 / 4 pi eps0).
  template <int Dim = 3>
  struct dipole_tensor
  {
    static constexpr int dim = Dim, n_in = Dim, n_out = Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 3 + (2 * Dim - 1) + 1 + 4 * Dim;
    static constexpr auto name = "dipole_tensor";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> isotropic<V, dim>
    {
      V const inv_r2 = inv_r * inv_r;
      // not 3 / |r|^5, which leaves the range of float long before K does
      return {inv_r2 * inv_r, V(-1), V(3) * inv_r2, r};
    }
  };
}
