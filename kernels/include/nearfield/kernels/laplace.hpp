#pragma once

/// \file
/// Kernels of the Laplace equation, in three dimensions and in two.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

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

namespace nearfield::detail
{
  using laplace_interactions =
      type_list<one_over_r<2>, one_over_r<3>, grad_one_over_r<2>, grad_one_over_r<3>,
                val_grad_one_over_r<2>, val_grad_one_over_r<3>, log_r, grad_log_r, dipole_tensor<2>,
                dipole_tensor<3>>;
}
