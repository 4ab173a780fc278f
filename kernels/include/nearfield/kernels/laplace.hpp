#pragma once

/// \file
/// Kernels of the Laplace equation, in three dimensions and in two. A dipole q has the potential q . grad_y K(x - y) of the
/// charge's K, with respect to the source.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

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
    static constexpr std::string_view
        formula = "1 / |r|",
        inputs = "charge", outputs = "potential",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 1.17";
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
    static constexpr std::string_view
        formula = "-r / |r|^3",
        inputs = "charge", outputs = "gradient",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 1.15";
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
    static constexpr std::string_view
        formula = "[1 / |r|; -r / |r|^3]",
        inputs = "charge", outputs = "potential, gradient",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 1.15, 1.17";
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
    static constexpr std::string_view formula = "ln|r|", inputs = "charge", outputs = "potential",
                                      source = "L. Greengard, V. Rokhlin, J. Comput. Phys. 73, "
                                               "325, 1987, eq. 2.1, with the other sign";

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
    static constexpr std::string_view formula = "r / |r|^2", inputs = "charge",
                                      outputs = "gradient",
                                      source = "L. Greengard, V. Rokhlin, J. Comput. Phys. 73, "
                                               "325, 1987, eq. 2.1, with the other sign";
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
    static constexpr std::string_view
        formula = "3 r r^T / |r|^5 - I / |r|^3",
        inputs = "dipole", outputs = "field",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.13";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> isotropic<V, dim>
    {
      V const inv_r2 = inv_r * inv_r;
      // not 3 / |r|^5, which leaves the range of float long before K does
      return {inv_r2 * inv_r, V(-1), V(3) * inv_r2, r};
    }
  };

  namespace detail
  {
    /// K = c m, a column that is even in r.
    template <class V, int NOut>
    struct even_column
    {
      V c;            ///< the factor of the whole column, of the magnitude of K
      vec<V, NOut> m; ///< near 1

      NEARFIELD_FN constexpr vec<V, NOut> to(vec<V, 1> const& q) const { return (c * q[0]) * m; }
      NEARFIELD_FN constexpr vec<V, NOut> back(vec<V, 1> const& q) const { return to(q); }
    };

    /// The potential and gradient of a dipole, whose three inputs come last, with or without a charge before it.
    template <class V, bool HasCharge>
    struct of_dipole
    {
      static constexpr int n_in = HasCharge ? 4 : 3;

      V inv_r, inv_r2, inv_r3;
      vec<V, 3> r; ///< as it was given to K

      NEARFIELD_FN constexpr vec<V, 4> to(vec<V, n_in> const& q) const { return apply<1>(q); }
      NEARFIELD_FN constexpr vec<V, 4> back(vec<V, n_in> const& q) const { return apply<-1>(q); }

    private:
      // (c + s) / |r| and (d - (c + 3 s) r) / |r|^3 with s = d . r / |r|^2, where r has the sign
      template <int Sign>
      NEARFIELD_FN constexpr vec<V, 4> apply(vec<V, n_in> const& q) const
      {
        vec<V, 3> const d{q[n_in - 3], q[n_in - 2], q[n_in - 1]};
        V const s = inv_r2 * dot(d, r);
        V value = s, factor = V(3) * s;
        if constexpr (HasCharge)
        {
          value = Sign > 0 ? q[0] + s : q[0] - s;
          factor = Sign > 0 ? q[0] + factor : factor - q[0];
        }
        vec<V, 4> result;
        result[0] = inv_r * value;
        if constexpr (!HasCharge && Sign < 0) result[0] = -result[0];
        NEARFIELD_UNROLL
        for (int a = 0; a < 3; ++a) result[1 + a] = inv_r3 * (d[a] - factor * r[a]);
        return result;
      }
    };
  }

  /// K(r) = grad_x grad_x^T 1/|r| = 3 r r^T / |r|^5 - I / |r|^3 of a charge: xx, xy, xz, yy, yz, zz, with
  /// xx + yy + zz = 0. In charges per length^3. Singular.
  struct hess_one_over_r
  {
    static constexpr int dim = 3, n_in = 1, n_out = 6;
    static constexpr int flops = 3 + 5 + 1 + 3 + 3 + 9 + 1 + 2 * 6;
    static constexpr auto name = "hess_one_over_r";
    static constexpr std::string_view
        formula = "grad grad^T 1 / |r| = 3 r r^T / |r|^5 - I / |r|^3",
        inputs = "charge", outputs = "xx, xy, xz, yy, yz, zz",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.13";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::even_column<V, 6>
    {
      V const inv_r2 = inv_r * inv_r;
      vec<V, 3> const b = (V(3) * inv_r2) * r;
      return {inv_r2 * inv_r,
              {b[0] * r[0] - V(1), b[0] * r[1], b[0] * r[2], b[1] * r[1] - V(1), b[1] * r[2],
               b[2] * r[2] - V(1)}};
    }
  };

  /// K(r) q = q . r / |r|^3, the potential of a point dipole q. Singular.
  struct dipole_one_over_r
  {
    static constexpr int dim = 3, n_in = 3, n_out = 1;
    static constexpr int flops = 3 + 5 + 1 + 2 + 5 + 2;
    static constexpr auto name = "dipole_one_over_r";
    static constexpr std::string_view
        formula = "q . r / |r|^3",
        inputs = "dipole", outputs = "potential",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.10";
    static constexpr int inv_r_power(int) { return 3; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> along<V, dim>
    {
      return {inv_r * inv_r * inv_r, r};
    }
  };

  /// K(r) q = [q . r / |r|^3; q / |r|^3 - 3 (q . r) r / |r|^5], the potential of a point dipole q, then its gradient, which
  /// is minus the field `dipole_tensor`. Singular.
  struct val_grad_dipole_one_over_r
  {
    static constexpr int dim = 3, n_in = 3, n_out = 4;
    static constexpr int flops = 3 + 5 + 1 + 2 + 6 + 1 + 2 + 4 * 3;
    static constexpr auto name = "val_grad_dipole_one_over_r";
    static constexpr std::string_view
        formula = "[q . r / |r|^3; q / |r|^3 - 3 (q . r) r / |r|^5]",
        inputs = "dipole", outputs = "potential, gradient",
        source = "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.10, 4.13";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::of_dipole<V, false>
    {
      V const inv_r2 = inv_r * inv_r;
      return {inv_r, inv_r2, inv_r2 * inv_r, r};
    }
  };

  /// The potential and the gradient of a charge c and a dipole d at each source, (c, d) -> c `val_grad_one_over_r` + d
  /// `val_grad_dipole_one_over_r`, for less than both. Singular.
  struct charge_dipole_one_over_r
  {
    static constexpr int dim = 3, n_in = 4, n_out = 4;
    static constexpr int flops = 3 + 5 + 1 + 2 + 6 + 3 + 2 + 4 * 3;
    static constexpr auto name = "charge_dipole_one_over_r";
    static constexpr std::string_view
        formula = "[c / |r| + d . r / |r|^3; (d - c r) / |r|^3 - 3 (d . r) r / |r|^5]",
        inputs = "charge, dipole", outputs = "potential, gradient",
        source =
            "J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 1.15, 1.17, 4.10, 4.13";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::of_dipole<V, true>
    {
      V const inv_r2 = inv_r * inv_r;
      return {inv_r, inv_r2, inv_r2 * inv_r, r};
    }
  };

  /// K(r) = n . r / |r|^3 = n . grad_y 1/|r| with the normal n of the source, a parameter of points: the double layer, of a
  /// density times its area. n need not have length 1. The way back has the normal of the target. Singular.
  struct double_layer_one_over_r
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, n_parameters = 3;
    static constexpr int flops = 3 + 5 + 1 + 2 + 5 + 1 + 2;
    static constexpr auto name = "double_layer_one_over_r";
    static constexpr std::string_view
        formula = "n . r / |r|^3, n of the source",
        inputs = "density times area", outputs = "potential",
        source = "O. D. Kellogg, Foundations of Potential Theory, 1929, chapter VI, section 7";
    static constexpr std::array point_parameters{
        point_parameter{"normal_x"}, point_parameter{"normal_y"}, point_parameter{"normal_z"}};
    static constexpr int inv_r_power(int) { return 3; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r,
                                 vec<V, n_parameters> const& target,
                                 vec<V, n_parameters> const& source_normal) const
        -> detail::two_ways<V>
    {
      V const inv_r3 = inv_r * inv_r * inv_r;
      return {inv_r3 * dot(source_normal, r), -(inv_r3 * dot(target, r))};
    }
  };

  /// K(r) = [ln|r|; r / |r|^2]: the value, then its gradient with respect to the target. Singular.
  struct val_grad_log_r
  {
    static constexpr int dim = 2, n_in = 1, n_out = 3;
    static constexpr int flops = 2 + 3 + 1 + 2 + 2 + 1 + 4; // the logarithm counts 1
    static constexpr auto name = "val_grad_log_r";
    static constexpr std::string_view formula = "[ln|r|; r / |r|^2]", inputs = "charge",
                                      outputs = "potential, gradient",
                                      source = "L. Greengard, V. Rokhlin, J. Comput. Phys. 73, "
                                               "325, 1987, eq. 2.1, with the other sign";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> value_and_radial<V, dim>
    {
      V const r2 = dot(r, r);
      return {V(0.5) * nearfield::log(r2), V(1) / r2, r};
    }
  };

  /// K(r) = grad_x grad_x^T ln|r| = I / |r|^2 - 2 r r^T / |r|^4 of a charge: xx, xy, yy, with xx + yy = 0. In
  /// charges per length^2. Singular.
  struct hess_log_r
  {
    static constexpr int dim = 2, n_in = 1, n_out = 3;
    static constexpr int flops = 2 + 3 + 1 + 2 + 2 + 2 + 1 + 1 + 2 * 3;
    static constexpr auto name = "hess_log_r";
    static constexpr std::string_view formula = "grad grad^T ln|r| = I / |r|^2 - 2 r r^T / |r|^4",
                                      inputs = "charge", outputs = "xx, xy, yy",
                                      source = "L. Greengard, V. Rokhlin, J. Comput. Phys. 73, "
                                               "325, 1987, eq. 2.1, with the other sign";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::even_column<V, 3>
    {
      V const inv_r2 = inv_r * inv_r;
      vec<V, 2> const b = (V(-2) * inv_r2) * r;
      V const xx = b[0] * r[0] + V(1);
      return {inv_r2, {xx, b[0] * r[1], -xx}};
    }
  };

  /// K(r) q = -q . r / |r|^2 = q . grad_y ln|r|, the potential of a point dipole q in two dimensions. Singular.
  struct dipole_log_r
  {
    static constexpr int dim = 2, n_in = 2, n_out = 1;
    static constexpr int flops = 2 + 3 + 1 + 1 + 3 + 2;
    static constexpr auto name = "dipole_log_r";
    static constexpr std::string_view formula = "-q . r / |r|^2", inputs = "dipole",
                                      outputs = "potential",
                                      source = "L. Greengard, V. Rokhlin, J. Comput. Phys. 73, "
                                               "325, 1987, eq. 2.1, with the other sign";
    static constexpr int inv_r_power(int) { return 2; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> along<V, dim>
    {
      return {-(inv_r * inv_r), r};
    }
  };
}

namespace nearfield::detail
{
  using laplace_interactions =
      type_list<one_over_r<2>, one_over_r<3>, grad_one_over_r<2>, grad_one_over_r<3>,
                val_grad_one_over_r<2>, val_grad_one_over_r<3>, log_r, grad_log_r, dipole_tensor<2>,
                dipole_tensor<3>, hess_one_over_r, dipole_one_over_r, val_grad_dipole_one_over_r,
                charge_dipole_one_over_r, double_layer_one_over_r, val_grad_log_r, hess_log_r,
                dipole_log_r>;
}
