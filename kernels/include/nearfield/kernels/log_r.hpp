#pragma once

#include <nearfield/core/interaction.hpp>

namespace nearfield
{
  /// K(r) = ln |r|, in two dimensions 2 pi times the fundamental solution of the Laplacian. Singular.
  struct log_r
  {
    static constexpr int dim = 2, n_in = 1, n_out = 1;
    static constexpr int flops = 2 + 3 + 2 + 2; // the logarithm counts 1, as a root does
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "log_r";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{V(0.5) * nearfield::log(dot(r, r))}}};
    }
  };

  /// K(r) = grad_x ln|r| = r / |r|^2, with respect to the target. Singular.
  struct grad_log_r
  {
    static constexpr int dim = 2, n_in = 1, n_out = 2;
    static constexpr int flops = 2 + 3 + 1 + 2 + 4;
    static constexpr auto name = "grad_log_r";
    static constexpr int inv_r_power(int) { return 2; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim>
    {
      return {inv_r * inv_r, r};
    }
  };
}
