#pragma once

/// \file
/// Softened gravity.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

namespace nearfield
{
  /// K(r) = r / (|r|^2 + eps^2)^(3/2), Plummer-softened; eps is a length. Singular for eps = 0.
  /// With r = x_target - x_source the gravitational acceleration is -G sum_j K m_j.
  /// (H. C. Plummer, MNRAS 71, 460, 1911, doi:10.1093/mnras/71.5.460)
  template <int Dim = 3>
  struct r_over_r3
  {
    static constexpr int dim = Dim, n_in = 1, n_out = Dim;
    static constexpr int flops = Dim + 2 * Dim + 1 + 3 + 2 * Dim;
    static constexpr auto name = "r_over_r3";
    static constexpr std::string_view formula = "r / (|r|^2 + eps^2)^(3/2)",
                                      source = "Plummer 1911, doi:10.1093/mnras/71.5.460";
    static constexpr std::string_view inputs = "mass", outputs = "acceleration / -G";

    double eps = 0; ///< length^1, not negative

    static constexpr auto parameters()
    {
      return std::array{
          parameter<r_over_r3>{"eps", &r_over_r3::eps, parameter_range::not_negative, "length"}};
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> radial<V, dim>
    {
      V const root = nearfield::rsqrt(dot(r, r) + V(eps * eps));
      return {root * root * root, r};
    }
  };
}

namespace nearfield::detail
{
  using gravity_interactions = type_list<r_over_r3<2>, r_over_r3<3>>;
}
