#pragma once

/// \file
/// The Gaussian, a regular kernel.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

namespace nearfield
{
  /// K(r) = exp(-|r|^2 / sigma^2); sigma is a length. Regular: K(0) = 1, so two points at the same
  /// place count as a pair, and only i = j is left out.
  template <int Dim = 3>
  struct gaussian
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 2 + 2; // the exponential counts 1
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "gaussian";

    static constexpr std::string_view formula = "exp(-|r|^2 / sigma^2)";
    static constexpr std::string_view inputs = "weight", outputs = "sum of Gaussians";

    double sigma = 1; ///< length^1, positive

    static constexpr auto parameters()
    {
      return std::array{
          parameter<gaussian>{"sigma", &gaussian::sigma, parameter_range::positive, "length"}};
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{nearfield::exp(V(-1 / (sigma * sigma)) * dot(r, r))}}};
    }
  };
}

namespace nearfield::detail
{
  using gaussian_interactions = type_list<gaussian<2>, gaussian<3>>;
}
