#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/linear_map.hpp>
#include <nearfield/core/math.hpp>

#include <array>

/// \file
/// The matrix kernel of ScalFMM 3 that no built-in interaction equals. It is compiled as your own interactions are: by
/// nearfield_add_interaction(), or with <nearfield/p2p/simd.hpp> where it is used.

namespace nearfield::scalfmm3
{
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
