#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/linear_map.hpp>
#include <nearfield/core/math.hpp>

#include <array>

/// \file
/// The matrix kernels of ScalFMM 3 that no built-in interaction equals. They are compiled as your own interactions are:
/// by nearfield_add_interaction(), or with <nearfield/p2p/simd.hpp> where they are used.

namespace nearfield::scalfmm3
{
  /// K(r) = 1 / |r|^2, ScalFMM's others::one_over_r2. Singular.
  template <int Dim = 3>
  struct one_over_r2
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 1 + 2;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "one_over_r2";
    static constexpr int inv_r_power(int) { return 2; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const&, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{inv_r * inv_r}}};
    }
  };

  /// K(r) = grad_x 1/|r|^2 = -2 r / |r|^4, with respect to the target, ScalFMM's others::grad_one_over_r2. Singular.
  template <int Dim = 3>
  struct grad_one_over_r2
  {
    static constexpr int dim = Dim, n_in = 1, n_out = Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 4 + 2 * Dim;
    static constexpr auto name = "grad_one_over_r2";
    static constexpr int inv_r_power(int) { return 4; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim, -1>
    {
      V const inv_r2 = inv_r * inv_r;
      return {V(2) * inv_r2 * inv_r2, r};
    }
  };

  /// K(r) = [ln |r|; r / |r|], ScalFMM's laplace::val_grad_ln_2d. Its vector is not the gradient of the value, which is
  /// r / |r|^2 (grad_log_r). Singular.
  struct val_grad_ln_2d
  {
    static constexpr int dim = 2, n_in = 1, n_out = 3;
    static constexpr int flops = 2 + 3 + 2 + 1 + 2 + 6; // the logarithm counts 1, as a root does
    /// of K under r -> -r, an output each
    static constexpr std::array symmetry{parity::even, parity::odd, parity::odd};
    static constexpr auto name = "val_grad_ln_2d";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 3, 1>
    {
      V const r2 = dot(r, r), inv_r = nearfield::rsqrt(r2);
      return {{{V(0.5) * nearfield::log(r2)}, {inv_r * r[0]}, {inv_r * r[1]}}};
    }
  };
}
