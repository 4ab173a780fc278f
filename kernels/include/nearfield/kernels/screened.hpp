#pragma once

/// \file
/// Screened potentials in three dimensions: Yukawa's, and the part of Ewald's sum that is over pairs.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

namespace nearfield
{
  namespace detail
  {
    inline constexpr std::string_view
        source_of_yukawa = "H. Yukawa, Proc. Phys.-Math. Soc. Japan 17, 48, 1935, eq. 2",
        source_of_ewald =
            "P. P. Ewald, Ann. Phys. 369, 253, 1921, doi:10.1002/andp.19213690304; M. "
            "Deserno, C. Holm, J. Chem. Phys. 109, 7678, 1998";

    /// e^(-kappa |r|) / |r|
    template <class V>
    NEARFIELD_FN V yukawa_value(double kappa, vec<V, 3> const& r, V const& inv_r)
    {
      return inv_r * nearfield::exp(V(-kappa) * (dot(r, r) * inv_r));
    }
    /// (1 + kappa |r|) / |r|^2, the factor of -r yukawa_value in the gradient
    template <class V>
    NEARFIELD_FN V yukawa_slope(double kappa, V const& inv_r)
    {
      return inv_r * (inv_r + V(kappa));
    }

    template <class K>
    constexpr auto yukawa_parameters()
    {
      return std::array{
          parameter<K>{"kappa", &K::kappa, parameter_range::not_negative, "1 / length"}};
    }
  }

  /// K(r) = e^(-kappa |r|) / |r|, the potential of a screened charge: 4 pi times the fundamental solution of kappa^2 -
  /// Laplacian. Singular.
  struct yukawa
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1;
    static constexpr int flops = 3 + 5 + 1 + 4 + 2; // the exponential counts 1
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "yukawa";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "exp(-kappa |r|) / |r|", inputs = "charge",
                                      outputs = "potential", source = detail::source_of_yukawa;
    static constexpr auto parameters() { return detail::yukawa_parameters<yukawa>(); }

    double kappa = 1; ///< length^-1, not negative

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{detail::yukawa_value(kappa, r, inv_r)}}};
    }
  };

  /// K(r) = grad_x of `yukawa` = -(1 + kappa |r|) e^(-kappa |r|) r / |r|^3, with respect to the target. Singular.
  struct grad_yukawa
  {
    static constexpr int dim = 3, n_in = 1, n_out = 3;
    static constexpr int flops = 3 + 5 + 1 + 7 + 1 + 2 * 3;
    static constexpr auto name = "grad_yukawa";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "-(1 + kappa |r|) exp(-kappa |r|) r / |r|^3",
                                      inputs = "charge", outputs = "gradient",
                                      source = detail::source_of_yukawa;
    static constexpr auto parameters() { return detail::yukawa_parameters<grad_yukawa>(); }

    double kappa = 1; ///< length^-1, not negative

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim, -1>
    {
      return {detail::yukawa_value(kappa, r, inv_r) * detail::yukawa_slope(kappa, inv_r), r};
    }
  };

  /// K(r) = [e^(-kappa |r|) / |r|; its gradient with respect to the target]. Singular.
  struct val_grad_yukawa
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4;
    static constexpr int flops = 3 + 5 + 1 + 6 + 3 + 2 * 3;
    static constexpr auto name = "val_grad_yukawa";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view
        formula = "[exp(-kappa |r|) / |r|; -(1 + kappa |r|) exp(-kappa |r|) r / |r|^3]",
        inputs = "charge", outputs = "potential, gradient", source = detail::source_of_yukawa;
    static constexpr auto parameters() { return detail::yukawa_parameters<val_grad_yukawa>(); }

    double kappa = 1; ///< length^-1, not negative

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> value_radial<V, dim, -1>
    {
      return {detail::yukawa_value(kappa, r, inv_r), detail::yukawa_slope(kappa, inv_r), r};
    }
  };

  /// K(r) q = (1 + kappa |r|) e^(-kappa |r|) q . r / |r|^3, the potential of a screened dipole: q . grad_y of
  /// `yukawa`, with respect to the source. Singular.
  struct dipole_yukawa
  {
    static constexpr int dim = 3, n_in = 3, n_out = 1;
    static constexpr int flops = 3 + 5 + 1 + 7 + 5 + 2;
    static constexpr auto name = "dipole_yukawa";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "(1 + kappa |r|) exp(-kappa |r|) q . r / |r|^3",
                                      inputs = "dipole", outputs = "potential",
                                      source = detail::source_of_yukawa;
    static constexpr auto parameters() { return detail::yukawa_parameters<dipole_yukawa>(); }

    double kappa = 1; ///< length^-1, not negative

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> along<V, dim>
    {
      return {detail::yukawa_value(kappa, r, inv_r) * detail::yukawa_slope(kappa, inv_r), r};
    }
  };

  namespace detail
  {
    /// Where Ewald's real part ends: at r_c, or past all normal numbers.
    NEARFIELD_FN double ewald_end(double alpha, double r_c)
    {
      return r_c > 0 ? r_c : 27 / alpha;
    }

    /// e^(-alpha^2 |r|^2), or 0 from `end` on, and erfcx(alpha |r|) / |r|: their product is the value.
    template <class V>
    NEARFIELD_FN void ewald_factors(double alpha, double end, vec<V, 3> const& r, V const& inv_r,
                                    V& decay, V& rest)
    {
      V const r2 = dot(r, r);
      decay = keep_less(r2, V(end * end), nearfield::exp(V(-alpha * alpha) * r2));
      rest = nearfield::erfcx(V(alpha) * (r2 * inv_r)) * inv_r;
    }

    template <class K>
    constexpr auto ewald_parameters()
    {
      return std::array{parameter<K>{"alpha", &K::alpha, parameter_range::positive, "1 / length"},
                        parameter<K>{"r_c", &K::r_c, parameter_range::not_negative, "length"}};
    }
  }

  /// K(r) = erfc(alpha |r|) / |r| where |r| < r_c, else 0: the part of Ewald's sum over pairs. It ends because K must be zero
  /// beyond the cutoff of a cell list. It is not shifted, so K jumps there. Singular.
  struct ewald_real
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1;
    static constexpr int flops = 3 + 5 + 1 + 7 + 2; // exp and the rest of erfc count 1 each
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "ewald_real";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "erfc(alpha |r|) / |r|, 0 from r_c on",
                                      inputs = "charge", outputs = "potential",
                                      source = detail::source_of_ewald;
    static constexpr auto parameters() { return detail::ewald_parameters<ewald_real>(); }

    double alpha = 1; ///< length^-1, positive
    double r_c =
        0; ///< the cutoff, length^1, not negative; 0: 27 / alpha, where K is below all normal numbers

    /// Where K ends, a length.
    [[nodiscard]] NEARFIELD_FN double cutoff() const { return detail::ewald_end(alpha, r_c); }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 1, 1>
    {
      V decay, rest;
      detail::ewald_factors(alpha, cutoff(), r, inv_r, decay, rest);
      return {{{decay * rest}}};
    }
  };

  /// K(r) = [v; -(v + 2 alpha / sqrt(pi) e^(-alpha^2 |r|^2)) r / |r|^2] with v = erfc(alpha |r|) / |r| where |r| < r_c, else
  /// 0: the value, then its gradient with respect to the target. Singular.
  struct val_grad_ewald_real
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4;
    static constexpr int flops = 3 + 5 + 1 + 7 + 4 + 3 + 2 * 3;
    static constexpr auto name = "val_grad_ewald_real";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view
        formula = "[v; -(v + 2 alpha / sqrt(pi) exp(-alpha^2 |r|^2)) r / |r|^2] with v = "
                  "erfc(alpha |r|) / |r|, 0 from r_c on",
        inputs = "charge", outputs = "potential, gradient", source = detail::source_of_ewald;
    static constexpr auto parameters() { return detail::ewald_parameters<val_grad_ewald_real>(); }

    double alpha = 1; ///< length^-1, positive
    double r_c =
        0; ///< the cutoff, length^1, not negative; 0: 27 / alpha, where K is below all normal numbers

    /// Where K ends, a length.
    [[nodiscard]] NEARFIELD_FN double cutoff() const { return detail::ewald_end(alpha, r_c); }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> value_and_radial<V, dim>
    {
      constexpr double two_over_sqrt_pi = 1.12837916709551257390;
      V decay, rest;
      detail::ewald_factors(alpha, cutoff(), r, inv_r, decay, rest);
      V const slope = decay * (V(-two_over_sqrt_pi * alpha) - rest);
      return {decay * rest, slope * (inv_r * inv_r), r};
    }
  };
}

namespace nearfield::detail
{
  using screened_interactions = type_list<yukawa, grad_yukawa, val_grad_yukawa, dipole_yukawa,
                                          ewald_real, val_grad_ewald_real>;
}
