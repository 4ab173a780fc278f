#pragma once

/// \file
/// Softened gravity. With masses m as inputs and a gravitational constant G, the acceleration of a target is G times the
/// gradients below, and the potential per mass -G times the values.

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

  /// K(r) = [1/s; -r/s^3], s^2 = |r|^2 + eps^2, the Plummer-softened potential and its gradient with respect to the
  /// target; eps is a length. Singular for eps = 0.
  /// (H. C. Plummer, MNRAS 71, 460, 1911, doi:10.1093/mnras/71.5.460)
  struct plummer_gravity
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4;
    static constexpr int flops = 3 + 6 + 1 + 4 + 6;
    static constexpr auto name = "plummer_gravity";
    static constexpr std::string_view formula = "[1 / s; -r / s^3], s^2 = |r|^2 + eps^2",
                                      source = "Plummer 1911, doi:10.1093/mnras/71.5.460";
    static constexpr std::string_view inputs = "mass", outputs = "potential / -G, acceleration / G";

    double eps = 0; ///< length^1, not negative

    static constexpr auto parameters()
    {
      return std::array{parameter<plummer_gravity>{"eps", &plummer_gravity::eps,
                                                   parameter_range::not_negative, "length"}};
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> value_radial<V, dim, -1>
    {
      V const root = nearfield::rsqrt(dot(r, r) + V(eps * eps));
      return {root, root * root, r};
    }
  };

  /// The same with a softening length eps of each point: s^2 = |r|^2 + eps_target^2 + eps_source^2, which is symmetric, so
  /// that momentum is conserved. Two points with eps = 0 meet unsoftened, and add zero at one place.
  /// (T. R. Saitoh and J. Makino, New Astronomy 17, 76, 2012, arXiv:1005.1752)
  struct individual_plummer_gravity
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4, n_parameters = 1;
    static constexpr int flops = plummer_gravity::flops + 3;
    static constexpr auto name = "individual_plummer_gravity";
    static constexpr bool is_regular = true;
    static constexpr std::string_view formula =
                                          "[1 / s; -r / s^3], s^2 = |r|^2 + eps_i^2 + eps_j^2",
                                      source = "Saitoh and Makino 2012, arXiv:1005.1752";
    static constexpr std::string_view inputs = "mass", outputs = "potential / -G, acceleration / G";
    static constexpr std::array point_parameters{
        point_parameter{"eps", parameter_range::not_negative, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& i, vec<V, 1> const& j) const
        -> value_radial<V, dim, -1>
    {
      V const root = detail::rsqrt_or_zero(dot(r, r) + (i[0] * i[0] + j[0] * j[0]));
      return {root, root * root, r};
    }
  };

  /// K(r) = [g(u) / h; grad_x of it], u = |r| / h: the potential of a mass that a cubic spline spreads over the radius h,
  /// and its gradient with respect to the target. h is the larger of the lengths h of the two points.
  ///
  ///     g = 14/5 - 16/3 u^2 + 48/5 u^4 - 32/5 u^5            u < 1/2
  ///     g = (1 - v^5 (16/5 - 32/15 v)) / u, v = 1 - u        1/2 <= u < 1
  ///     g = 1 / u                                            1 <= u
  ///
  /// Beyond h that is 1/|r| and -r/|r|^3 without softening. K(0) = 14 / (5 h): h = 2.8 eps is the depth of Plummer's
  /// potential with eps. h is a length and not negative; two points with h = 0 meet unsoftened, and add zero at one place.
  /// (L. Hernquist and N. Katz, ApJS 70, 419, 1989, doi:10.1086/191344; V. Springel, MNRAS 364, 1105, 2005,
  /// doi:10.1111/j.1365-2966.2005.09655.x)
  struct spline_gravity
  {
    static constexpr int dim = 3, n_in = 1, n_out = 4, n_parameters = 1;
    static constexpr int flops = 3 + 5 + 1 + 4 + 7 + 7 + 3 + 6 + 9 + 8;
    static constexpr auto name = "spline_gravity";
    static constexpr bool is_regular = true;
    static constexpr std::string_view
        formula = "[g(|r| / h) / h; its gradient], of a cubic spline of radius h = max(h_i, h_j)",
        source = "Hernquist and Katz 1989, doi:10.1086/191344; Springel 2005, "
                 "doi:10.1111/j.1365-2966.2005.09655.x";
    static constexpr std::string_view inputs = "mass", outputs = "potential / -G, acceleration / G";
    static constexpr std::array point_parameters{
        point_parameter{"h", parameter_range::not_negative, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& i, vec<V, 1> const& j) const
        -> value_and_radial<V, dim>
    {
      V const r2 = dot(r, r), inv_r = detail::rsqrt_or_zero(r2);
      V const h = select_less(i[0], j[0], j[0], i[0]), inv_h = V(1) / h;
      V const u = r2 * inv_r * inv_h, u2 = u * u;
      V const inner = inv_h * (V(2.8) - u2 * (V(16. / 3) + u2 * (V(6.4) * u - V(9.6))));
      V const inner_slope = inv_h * inv_h * inv_h * (V(32. / 3) + u2 * (V(32) * u - V(38.4)));
      // the other two at once, by what the shells outside take away
      V const v = keep_less(u, V(1), V(1) - u), v2 = v * v, v4 = v2 * v2;
      V const outer = inv_r * (V(1) - v4 * v * (V(3.2) - V(32. / 15) * v));
      V const outer_slope =
          inv_r * inv_r * inv_r * (V(1) - v4 * (V(16) - V(25.6) * v + V(32. / 3) * v2));
      V const half(0.5);
      return {select_less(u, half, inner, outer), -select_less(u, half, inner_slope, outer_slope),
              r};
    }
  };
}

namespace nearfield::detail
{
  using gravity_interactions = type_list<r_over_r3<2>, r_over_r3<3>, plummer_gravity,
                                         individual_plummer_gravity, spline_gravity>;
}
