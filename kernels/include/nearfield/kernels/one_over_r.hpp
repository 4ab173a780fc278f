#pragma once

#include <nearfield/core/interaction.hpp>

namespace nearfield
{
  /// K(r) = 1 / |r|, the unscaled potential of a unit charge or mass. Singular.
  template <int Dim = 3>
  struct one_over_r
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 2;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "one_over_r";
    static constexpr int inv_r_power(int) { return 1; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const&, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{inv_r}}};
    }
  };

  /// K(r) = grad_x 1/|r| = -r / |r|^3, with respect to the target. Singular.
  template <int Dim = 3>
  struct grad_one_over_r
  {
    static constexpr int dim = Dim, n_in = 1, n_out = Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 3 + 2 * Dim;
    static constexpr auto name = "grad_one_over_r";
    static constexpr int inv_r_power(int) { return 3; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim, -1>
    {
      return {inv_r * inv_r * inv_r, r};
    }
  };

  /// K(r) = [1/|r|; -r/|r|^3]: the value, then its gradient with respect to the target. Singular.
  template <int Dim = 3>
  struct val_grad_one_over_r
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1 + Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 4 + 2 * Dim;
    static constexpr auto name = "val_grad_one_over_r";
    static constexpr int inv_r_power(int output) { return output == 0 ? 1 : 3; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> value_radial<V, dim, -1>
    {
      return {inv_r, inv_r * inv_r, r};
    }
  };
}
