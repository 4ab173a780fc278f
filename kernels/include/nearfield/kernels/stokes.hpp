#pragma once

/// \file
/// Flows of singularities of the Stokes equations, mu laplace(u) = grad p, div u = 0.
///
/// In three dimensions sums over forces times 1 / (8 pi mu) are velocities and their gradients, and times 1 / (8 pi)
/// pressures. A double layer whose density is a velocity has the factors 1 / (8 pi) and mu / (8 pi). In two dimensions that
/// of forces is 1 / (4 pi mu).
///
/// With mu = 1, Stokeslets of FMM3D 2.1, STKFMM and SCTL are ours times 1 / (8 pi); stresslets of FMM3D 2.1 and SCTL ours
/// times -1 / (8 pi).
///
/// (C. Pozrikidis, Boundary Integral and Singularity Methods for Linearized Viscous Flow, Cambridge University Press,
/// 1992, section 2.2, doi:10.1017/CBO9780511624124)

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>
#include <nearfield/kernels/vortex.hpp>

#include <array>
#include <string_view>

namespace nearfield::detail
{
  /// [c (I + b r r^T); 2 c b r^T]: an even velocity and an odd pressure.
  template <class V>
  struct velocity_pressure_map
  {
    V c, b;
    vec<V, 3> r;

    NEARFIELD_FN vec<V, 4> to(vec<V, 3> const& q) const { return apply(q, V(2)); }
    NEARFIELD_FN vec<V, 4> back(vec<V, 3> const& q) const { return apply(q, V(-2)); }

  private:
    NEARFIELD_FN vec<V, 4> apply(vec<V, 3> const& q, V const& twice) const
    {
      V const along = b * dot(r, q);
      vec<V, 4> result;
      NEARFIELD_UNROLL
      for (int d = 0; d < 3; ++d) result[d] = c * (along * r[d] + q[d]);
      result[3] = c * (twice * along);
      return result;
    }
  };

  /// The gradient of q / |r| + r (r.q) / |r|^3, odd: output 3 i + j is the derivative of component i along axis j.
  template <class V>
  struct stokeslet_gradient_map
  {
    V c;         ///< 1 / |r|^2
    vec<V, 3> x; ///< r / |r|

    NEARFIELD_FN vec<V, 9> to(vec<V, 3> const& q) const { return apply<1>(q); }
    NEARFIELD_FN vec<V, 9> back(vec<V, 3> const& q) const { return apply<-1>(q); }

  private:
    template <int Sign>
    NEARFIELD_FN vec<V, 9> apply(vec<V, 3> const& q) const
    {
      V const s = dot(x, q);
      vec<V, 3> const twist = cross(x, q), pull = (V(-3) * s) * x;
      return signed_multiple<Sign>(
          c, vec<V, 9>{{pull[0] * x[0] + s, pull[0] * x[1] + twist[2], pull[0] * x[2] - twist[1],
                        pull[1] * x[0] - twist[2], pull[1] * x[1] + s, pull[1] * x[2] + twist[0],
                        pull[2] * x[0] + twist[1], pull[2] * x[1] - twist[0], pull[2] * x[2] + s}});
    }
  };
}

namespace nearfield::detail
{
  /// c (x.q) x with x = r / |r|, odd; c holds the normal of the source, and `other` that of the target, negated.
  template <class V>
  struct stresslet_map
  {
    V c, other;
    vec<V, 3> x;

    NEARFIELD_FN vec<V, 3> to(vec<V, 3> const& q) const { return (c * dot(x, q)) * x; }
    NEARFIELD_FN vec<V, 3> back(vec<V, 3> const& q) const { return (other * dot(x, q)) * x; }
  };

  /// The same and its pressure, 4 inv_r^3 n.q + 2 inv_r c (x.q), which is even.
  template <class V>
  struct stresslet_pressure_map
  {
    V c, other, inv_r;
    vec<V, 3> x, normal, normal_of_other;

    NEARFIELD_FN vec<V, 4> to(vec<V, 3> const& q) const { return apply(q, c, V(2), normal); }
    NEARFIELD_FN vec<V, 4> back(vec<V, 3> const& q) const
    {
      return apply(q, other, V(-2), normal_of_other);
    }

  private:
    NEARFIELD_FN vec<V, 4> apply(vec<V, 3> const& q, V const& factor, V const& twice,
                                 vec<V, 3> const& n) const
    {
      V const along = factor * dot(x, q);
      vec<V, 4> result;
      NEARFIELD_UNROLL
      for (int d = 0; d < 3; ++d) result[d] = along * x[d];
      result[3] = inv_r * (V(4) * inv_r * inv_r * dot(n, q) + twice * along);
      return result;
    }
  };
}

namespace nearfield
{
  /// K(r) = I / |r| + r r^T / |r|^3, the velocity of a point force q. Singular.
  struct stokeslet
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3;
    static constexpr int flops = 3 + 5 + 1 + 1 + 6 + 6 + 6;
    static constexpr auto name = "stokeslet";
    static constexpr std::string_view formula = "q / |r| + r (r.q) / |r|^3";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.2";
    static constexpr std::string_view inputs = "force (3)", outputs = "velocity (3)";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r) const -> isotropic<V, 3>
    {
      return {inv_r, V(1), inv_r * inv_r, r};
    }
  };

  /// K(r) = [I / |r| + r r^T / |r|^3; 2 r^T / |r|^3]: the velocity of a point force, then its pressure. Singular.
  struct stokeslet_pressure
  {
    static constexpr int dim = 3, n_in = 3, n_out = 4;
    static constexpr int flops = stokeslet::flops + 3;
    static constexpr auto name = "stokeslet_pressure";
    static constexpr std::string_view formula = "q / |r| + r (r.q) / |r|^3; 2 r.q / |r|^3";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.2";
    static constexpr std::string_view inputs = "force (3)", outputs = "velocity (3), pressure";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r) const
        -> detail::velocity_pressure_map<V>
    {
      return {inv_r, inv_r * inv_r, r};
    }
  };

  /// The gradient of stokeslet, du_i/dx_j row by row:
  /// (delta_ij r.q + r_i q_j - q_i r_j - 3 r_i r_j r.q / |r|^2) / |r|^3. Singular. Its trace is 0.
  struct grad_stokeslet
  {
    static constexpr int dim = 3, n_in = 3, n_out = 9;
    static constexpr int flops = 3 + 5 + 1 + 4 + 5 + 1 + 3 + 9 + 18 + 18;
    static constexpr auto name = "grad_stokeslet";
    static constexpr std::string_view formula =
        "du_i/dx_j = (delta_ij r.q + r_i q_j - q_i r_j - 3 r_i r_j r.q / |r|^2) / |r|^3";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.2";
    static constexpr std::string_view inputs = "force (3)", outputs = detail::velocity_gradient;

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r) const
        -> detail::stokeslet_gradient_map<V>
    {
      return {inv_r * inv_r, inv_r * r};
    }
  };

  /// K(r) q = -6 r (r.q) (r.n) / |r|^5, the velocity of a stresslet (double layer) of density q; the normal n of the source
  /// is a parameter. Of a constant q over a closed surface with n outward it is 8 pi q inside. Pozrikidis' T, of
  /// x_source - x_target, is its negative. Singular.
  struct stresslet
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3, n_parameters = 3;
    static constexpr int flops = 3 + 5 + 1 + 3 + 1 + 5 + 2 + 5 + 1 + 6;
    static constexpr auto name = "stresslet";
    static constexpr std::string_view formula = "-6 r (r.q) (r.n_source) / |r|^5";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.2";
    static constexpr std::string_view inputs = "density (3)", outputs = "velocity (3)";
    static constexpr std::array point_parameters{
        point_parameter{"normal_x"}, point_parameter{"normal_y"}, point_parameter{"normal_z"}};
    static constexpr int inv_r_power(int) { return 5; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r, vec<V, 3> const& target,
                                 vec<V, 3> const& source_normal) const -> detail::stresslet_map<V>
    {
      // unit vectors: 1 / |r|^5 leaves the range of float long before K does
      vec<V, 3> const x = inv_r * r;
      V const inv_r2 = inv_r * inv_r;
      return {V(-6) * inv_r2 * dot(x, source_normal), V(6) * inv_r2 * dot(x, target), x};
    }
  };

  /// stresslet and its pressure, 4 q.n / |r|^3 - 12 (r.q) (r.n) / |r|^5. Singular.
  struct stresslet_pressure
  {
    static constexpr int dim = 3, n_in = 3, n_out = 4, n_parameters = 3;
    static constexpr int flops = stresslet::flops + 5 + 2 + 2 + 2;
    static constexpr auto name = "stresslet_pressure";
    static constexpr std::string_view formula =
        "-6 r (r.q) (r.n_source) / |r|^5; 4 q.n_source / |r|^3 - 12 (r.q) (r.n_source) / |r|^5";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.2";
    static constexpr std::string_view inputs = "density (3)", outputs = "velocity (3), pressure";
    static constexpr auto point_parameters = stresslet::point_parameters;

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r, vec<V, 3> const& target,
                                 vec<V, 3> const& source_normal) const
        -> detail::stresslet_pressure_map<V>
    {
      auto const velocity = stresslet{}(r, inv_r, target, source_normal);
      return {velocity.c, velocity.other, inv_r, velocity.x, source_normal, target};
    }
  };

  /// K(r) q = q x r / |r|^3, the velocity of a point torque q. Singular.
  /// (A. T. Chwang, T. Y.-T. Wu, J. Fluid Mech. 63, 607, 1974, doi:10.1017/S0022112074001819)
  struct rotlet : biot_savart
  {
    static constexpr auto name = "rotlet";
    static constexpr std::string_view source = "Chwang & Wu 1974";
    static constexpr std::string_view inputs = "torque (3)";
  };

  /// K(r) = ((|r|^2 + 2 eps^2) I + r r^T) / (|r|^2 + eps^2)^(3/2), the velocity of a force that is spread over the blob
  /// 15 eps^4 / (8 pi (|r|^2 + eps^2)^(7/2)); the positive eps of the source is a parameter. Regular.
  /// (R. Cortez, L. Fauci, A. Medovikov, Phys. Fluids 17, 031504, 2005, doi:10.1063/1.1830486)
  struct regularised_stokeslet
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3, n_parameters = 1;
    static constexpr int flops = 3 + 5 + 2 + 1 + 3 + 6 + 9 + 6;
    static constexpr auto name = "regularised_stokeslet";
    static constexpr bool is_regular = true;
    static constexpr std::string_view formula =
        "((|r|^2 + 2 eps^2) q + r (r.q)) / (|r|^2 + eps^2)^(3/2), eps of the source";
    static constexpr std::string_view source = "Cortez, Fauci & Medovikov 2005";
    static constexpr std::string_view inputs = "force (3)", outputs = "velocity (3)";
    static constexpr std::array point_parameters{
        point_parameter{"eps", parameter_range::positive, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& from) const -> detail::two_way<isotropic<V, 3>>
    {
      auto const at = [&](V const& eps) __attribute__((always_inline)) -> isotropic<V, 3>
      {
        V const eps2 = eps * eps, root = nearfield::rsqrt(dot(r, r) + eps2), root2 = root * root;
        return {root, V(1) + eps2 * root2, root2, r};
      };
      return {at(from[0]), at(target[0])};
    }
  };

  /// The mobility of two spheres of radii a_i and a_j after Rotne, Prager and Yamakawa, times 8 pi mu, of unequal radii and
  /// of spheres that overlap. Regular, symmetric; positive definite with 4 / (3 a_i) I of each sphere itself, which a sum
  /// over other points leaves out. a is a length, positive.
  /// (P. J. Zuk, E. Wajnryb, K. A. Mizerski, P. Szymczak, J. Fluid Mech. 741, R5, 2014, doi:10.1017/jfm.2013.668)
  ///
  /// With x = r / |r|, s = (a_i^2 + a_j^2) / |r|^2 and d = (a_i - a_j)^2 / |r|^2:
  ///
  ///     ((1 + s / 3) I + (1 - s) x x^T) / |r|                                            a_i + a_j <= |r|
  ///     ((2/3 (a_i + a_j) - |r| (3 + d)^2 / 24) I + |r| (1 - d)^2 / 8 x x^T) / (a_i a_j)   for less
  ///     4 / (3 max(a_i, a_j)) I                                                          |r| <= |a_i - a_j|
  struct rpy
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3, n_parameters = 1;
    static constexpr int flops = 3 + 5 + 3 + 3 + 1 + 3 + 3 + 3 + 3 + 9 + 5 + 4 + 3 + 6 + 9 + 6;
    static constexpr auto name = "rpy";
    static constexpr bool is_regular = true;
    static constexpr std::string_view formula =
        "((1 + s/3) q + (1 - s) r (r.q) / |r|^2) / |r|, s = (a_i^2 + a_j^2) / |r|^2; overlaps as "
        "in the source";
    static constexpr std::string_view source = "Zuk, Wajnryb, Mizerski & Szymczak 2014";
    static constexpr std::string_view inputs = "force (3)", outputs = "velocity (3)";
    static constexpr std::array point_parameters{
        point_parameter{"a", parameter_range::not_negative, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& from) const -> isotropic<V, 3>
    {
      V const smaller = select_less(target[0], from[0], target[0], from[0]);
      V const larger = select_less(target[0], from[0], from[0], target[0]);
      V const sum = target[0] + from[0], difference = larger - smaller;
      V const sum2 = sum * sum, difference2 = difference * difference;
      // a sphere inside another one moves with it as one that touches it from inside
      V const length2 = dot(r, r), r2 = select_less(length2, difference2, difference2, length2);
      V const inv_r = math<V>::keep_nonzero(r2, nearfield::rsqrt(r2)), inv_r2 = inv_r * inv_r;
      V const s = V(0.5) * (sum2 + difference2) * inv_r2;
      V const y = difference * inv_r, rest = V(1) - y, rest2 = rest * rest;
      V const root = nearfield::rsqrt(smaller * larger);
      // 2/3 (a_i + a_j) - ..., of which nothing is left where one sphere is much smaller, without the cancellation
      V const near =
          V(4. / 3) * smaller - V(1. / 24) * r2 * inv_r * rest2 * (V(9) + y * (V(2) + y));
      V const near_along = V(0.125) * inv_r * rest2 * ((V(1) + y) * (V(1) + y));
      auto const apart = [&](V const& overlapping, V const& far) __attribute__((always_inline))
      {
        return select_less(r2, sum2, overlapping, far);
      };
      return {apart(root * root, inv_r), apart(near, V(1) + V(1. / 3) * s),
              apart(near_along, inv_r2 * (V(1) - s)), r};
    }
  };

  /// K(r) = -ln|r| I + r r^T / |r|^2, the velocity of a line force in two dimensions. Singular.
  struct log_stokeslet
  {
    static constexpr int dim = 2, n_in = 2, n_out = 2;
    static constexpr int flops = 2 + 3 + 3 + 4 + 6 + 2; // the logarithm counts 1
    static constexpr auto name = "log_stokeslet";
    static constexpr std::string_view formula = "-ln|r| q + r (r.q) / |r|^2";
    static constexpr std::string_view source = "Pozrikidis 1992, section 2.6";
    static constexpr std::string_view inputs = "force (2)", outputs = "velocity (2)";

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 2> const& r) const -> isotropic<V, 2>
    {
      V const r2 = dot(r, r);
      return {V(1), V(-0.5) * nearfield::log(r2), V(1) / r2, r};
    }
  };
}

namespace nearfield::detail
{
  using stokes_interactions =
      type_list<stokeslet, stokeslet_pressure, grad_stokeslet, stresslet, stresslet_pressure,
                rotlet, regularised_stokeslet, rpy, log_stokeslet>;
}
