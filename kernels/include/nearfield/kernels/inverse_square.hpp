#pragma once

/// \file
/// The potential 1/|r|^2, in three dimensions and in two.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <string_view>

namespace nearfield
{
  namespace detail
  {
    inline constexpr std::string_view source_of_inverse_square =
        "the kernels one_over_r2 of ScalFMM 3, gitlab.inria.fr/solverstack/ScalFMM";
  }

  /// K(r) = 1 / |r|^2. Singular.
  template <int Dim = 3>
  struct one_over_r2
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 1 + 2;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "one_over_r2";
    static constexpr std::string_view formula = "1 / |r|^2", inputs = "charge",
                                      outputs = "potential",
                                      source = detail::source_of_inverse_square;
    static constexpr int inv_r_power(int) { return 2; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const&, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{inv_r * inv_r}}};
    }
  };

  /// K(r) = grad_x 1/|r|^2 = -2 r / |r|^4, with respect to the target. Singular.
  template <int Dim = 3>
  struct grad_one_over_r2
  {
    static constexpr int dim = Dim, n_in = 1, n_out = Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 3 + 1 + 2 * Dim;
    static constexpr auto name = "grad_one_over_r2";
    static constexpr std::string_view formula = "-2 r / |r|^4", inputs = "charge",
                                      outputs = "gradient",
                                      source = detail::source_of_inverse_square;
    static constexpr int inv_r_power(int) { return 4; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim, -1>
    {
      V const inv_r2 = inv_r * inv_r;
      return {(inv_r2 + inv_r2) * inv_r2, r};
    }
  };

  /// K(r) = [1/|r|^2; -2 r / |r|^4]: the value, then its gradient with respect to the target. Singular.
  template <int Dim = 3>
  struct val_grad_one_over_r2
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1 + Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 5 + 2 * Dim;
    static constexpr auto name = "val_grad_one_over_r2";
    static constexpr std::string_view formula = "[1 / |r|^2; -2 r / |r|^4]", inputs = "charge",
                                      outputs = "potential, gradient",
                                      source = detail::source_of_inverse_square;
    static constexpr int inv_r_power(int output) { return output == 0 ? 2 : 4; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> value_radial<V, dim, -1>
    {
      V const inv_r2 = inv_r * inv_r;
      return {inv_r2, inv_r2 + inv_r2, r};
    }
  };
}

namespace nearfield::detail
{
  using inverse_square_interactions =
      type_list<one_over_r2<2>, one_over_r2<3>, grad_one_over_r2<2>, grad_one_over_r2<3>,
                val_grad_one_over_r2<2>, val_grad_one_over_r2<3>>;
}
