#pragma once

/// \file
/// Velocities induced by vortices, in three dimensions and in two: singular ones, and blobs with a core sigma.
///
/// In three dimensions q is the circulation vector of a particle, alpha = vorticity times volume, and sums times
/// 1 / (4 pi) are velocities. In two dimensions q is the circulation, and the factor 1 / (2 pi).
///
/// The velocity of a blob is g(|r|) q x r, with a radial factor g of its core that tends to 1/|r|^3. The core of the source
/// counts. Blobs are regular: two of them at the same place are a pair. sigma must be positive.
///
/// (G. S. Winckelmans, A. Leonard, J. Comput. Phys. 109, 247, 1993, doi:10.1006/jcph.1993.1216)

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

namespace nearfield::detail
{
  /// The radial factor of a velocity, g = c a, and its derivative, g' / |r| = c b. The magnitude is in c.
  template <class V>
  struct core_factors
  {
    V c, a, b;
  };

  /// K q = g q x r, odd: n_in = n_out = 3.
  template <class V>
  struct curl_map
  {
    V g;
    vec<V, 3> r;

    NEARFIELD_FN vec<V, 3> to(vec<V, 3> const& q) const { return g * cross(q, r); }
    NEARFIELD_FN vec<V, 3> back(vec<V, 3> const& q) const { return g * cross(r, q); }
  };

  /// The gradient of g q x r, even: output 3 i + j is the derivative of component i along axis j.
  template <class V>
  struct curl_gradient_map
  {
    core_factors<V> of;
    vec<V, 3> r;

    NEARFIELD_FN vec<V, 9> to(vec<V, 3> const& q) const
    {
      vec<V, 3> const e = of.a * q, w = of.b * cross(q, r);
      return of.c * vec<V, 9>{{w[0] * r[0], w[0] * r[1] - e[2], w[0] * r[2] + e[1],
                               w[1] * r[0] + e[2], w[1] * r[1], w[1] * r[2] - e[0],
                               w[2] * r[0] - e[1], w[2] * r[1] + e[0], w[2] * r[2]}};
    }
    NEARFIELD_FN vec<V, 9> back(vec<V, 3> const& q) const { return to(q); }
  };

  /// [g q x r; (alpha . grad) (g q x r)], velocity and stretching: an odd and an even half.
  template <class V>
  struct stretching_map
  {
    core_factors<V> of;
    vec<V, 3> r, alpha;

    NEARFIELD_FN vec<V, 6> to(vec<V, 3> const& q) const { return apply(q, cross(q, r), V(1)); }
    NEARFIELD_FN vec<V, 6> back(vec<V, 3> const& q) const { return apply(q, cross(r, q), V(-1)); }

  private:
    /// w = sign q x r
    NEARFIELD_FN vec<V, 6> apply(vec<V, 3> const& q, vec<V, 3> const& w, V const& sign) const
    {
      V const g = of.c * of.a, along = sign * of.b * dot(r, alpha);
      vec<V, 3> const turned = cross(q, alpha);
      vec<V, 6> result;
      NEARFIELD_UNROLL
      for (int d = 0; d < 3; ++d)
      {
        result[d] = g * w[d];
        result[3 + d] = of.c * (of.a * turned[d] + along * w[d]);
      }
      return result;
    }
  };

  /// The point parameters alpha of a pair, from number `First` on.
  template <int First, class V, int N>
  NEARFIELD_FN vec<V, 3> vector_at(vec<V, N> const& parameters)
  {
    return {{parameters[First], parameters[First + 1], parameters[First + 2]}};
  }

  /// The order of du_i/dx_j in nine outputs.
  inline constexpr std::string_view velocity_gradient =
      "velocity gradient: dux/dx dux/dy dux/dz duy/dx ... duz/dz";
  inline constexpr std::string_view velocity_and_stretching =
      "velocity (3), stretching (alpha_target . grad) u (3)";
  inline constexpr std::string_view circulation_vector = "circulation vector (3)";
}

namespace nearfield::detail
{
  /// sigma^3 g = (rho^2 + 5/2) / (rho^2 + 1)^(5/2), rho = |r| / sigma.
  struct algebraic_core
  {
    static constexpr int flops = 5 + 2 + 3 + 1 + 2, derivative_flops = 3;

    template <class V>
    static NEARFIELD_FN core_factors<V> at(vec<V, 3> const& r, V const& sigma)
    {
      V const sigma2 = sigma * sigma, root = nearfield::rsqrt(dot(r, r) + sigma2);
      // products with sigma2 first: they are of a point
      V const root2 = root * root;
      return {root * root2, V(1) + V(1.5) * sigma2 * root2,
              root2 * (V(-3) - V(7.5) * sigma2 * root2)};
    }
  };

  /// sigma^3 g = q(rho) / rho^3, q = erf(rho / sqrt(2)) - sqrt(2 / pi) rho exp(-rho^2 / 2).
  ///
  /// With g and g' written as sigma^3 g = G, sigma^5 g' / |r| = H within rho = 2, and |r|^3 g = q, |r|^5 g' / |r| = h beyond,
  ///
  ///     3 G = tail - rho^2 H,  q = 1 - tail p(rho),  h = rho^3 tail - 3 q,  tail = sqrt(2 / pi) exp(-rho^2 / 2),
  ///
  /// where H is smooth and p = sqrt(pi / 2) exp(rho^2 / 2) erfc(rho / sqrt(2)) + rho: nothing cancels. H and p are
  /// polynomials fitted to a relative error of H, and one of q, of 1.6e-16 and 5e-16 (4e-8 and 5e-9 in float).
  struct gaussian_core
  {
    static constexpr int flops = 5 + 1 + 2 + 4 + 1 + 3 + 2 + 1 + 2 + 26 + 3 + 31 + 2 + 2;
    static constexpr int derivative_flops = 6;

    template <class V>
    static NEARFIELD_FN core_factors<V> at(vec<V, 3> const& r, V const& sigma)
    {
      constexpr bool is_float = std::is_same_v<real_of<V>, float>;
      constexpr double sqrt_2_over_pi = 0.797884560802865356;
      V const r2 = dot(r, r), inv_r = nearfield::rsqrt(r2), inv_sigma = V(1) / sigma;
      V const t = inv_sigma * inv_sigma * r2;
      V const tail = V(sqrt_2_over_pi) * nearfield::exp(V(-0.5) * t);
      // from here on q is 1; a larger rho might overflow
      V const last = is_float ? 6.5 : 9, rho_far = r2 * inv_r * inv_sigma;
      V const rho = select_less(rho_far, last, rho_far, last), x = rho - V(3.5);
      V near_b, p;
      if constexpr (is_float)
      {
        near_b = polynomial(t, -0.1595769078, 0.05699159205, -0.01108096074, 0.001509704045,
                            -0.0001584696147, 1.313012126e-5, -7.968119462e-7, 2.620327955e-8);
        p = polynomial(x, 3.766569138, 0.9329796433, 0.01595943794, -0.003720748704,
                       0.0008376811165, -6.196393224e-5, 9.585994121e-5);
      }
      else
      {
        near_b =
            polynomial(t, -0.159576912160573045, 0.0569917543430594872, -0.0110817300111158094,
                       0.00151114500130937183, -0.000159832643721940891, 1.38521612312639676e-5,
                       -1.0185397572093118e-6, 6.50933765179052968e-8, -3.68012836356201462e-9,
                       1.86362403492563554e-10, -8.48168355181525924e-12, 3.38631057704426256e-13,
                       -1.0712814147301555e-14, 1.96461622223744606e-16);
        p = polynomial(x, 3.76656776896852795, 0.932987191390093711, 0.0160114694024979379,
                       -0.00365755526752837418, 0.00080250656458348813, -0.000169756222976308898,
                       3.4726595881514736e-5, -6.88807682782677077e-6, 1.32711914758987863e-6,
                       -2.48822918471801375e-7, 4.58534285888837384e-8, -8.20578635095692987e-9,
                       1.3176226146864259e-9, -2.35499560282832238e-10, 5.87037908937540815e-11,
                       -7.97023351590495492e-12);
      }
      V const near_a = V(1. / 3) * (tail - t * near_b), far_a = V(1) - tail * p;
      V const far_b = rho * rho * rho * tail - V(3) * far_a;
      auto const join = [&](V const& near, V const& far) __attribute__((always_inline))
      {
        return select_less(t, V(4), near, far);
      };
      V const inv = join(inv_sigma, inv_r), inv2 = inv * inv;
      return {inv * inv2, join(near_a, far_a), inv2 * join(near_b, far_b)};
    }
  };

  /// Velocities of a blob.
  template <class Core>
  struct blob_velocity
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3, n_parameters = 1;
    static constexpr int flops = 3 + Core::flops + 1 + 9 + 6;
    static constexpr bool is_regular = true;
    static constexpr std::string_view inputs = circulation_vector, outputs = "velocity (3)";
    static constexpr std::array point_parameters{
        point_parameter{"sigma", parameter_range::positive, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& source) const -> two_way<curl_map<V>>
    {
      auto const at = [&](V const& sigma) __attribute__((always_inline)) -> curl_map<V>
      {
        auto const of = Core::at(r, sigma);
        return {of.c * of.a, r};
      };
      return {at(source[0]), at(target[0])};
    }
  };

  /// Their gradient.
  template <class Core>
  struct blob_gradient
  {
    static constexpr int dim = 3, n_in = 3, n_out = 9, n_parameters = 1;
    static constexpr int flops = 3 + Core::flops + Core::derivative_flops + 9 + 6 + 15 + 18;
    static constexpr bool is_regular = true;
    static constexpr std::string_view inputs = circulation_vector, outputs = velocity_gradient;
    static constexpr std::array point_parameters{
        point_parameter{"sigma", parameter_range::positive, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& source) const -> two_way<curl_gradient_map<V>>
    {
      return {{Core::at(r, source[0]), r}, {Core::at(r, target[0]), r}};
    }
  };

  /// Velocities and how they stretch the target's own circulation vector.
  template <class Core>
  struct blob_stretching
  {
    static constexpr int dim = 3, n_in = 3, n_out = 6, n_parameters = 4;
    static constexpr int flops = 3 + Core::flops + Core::derivative_flops + 1 + 6 + 18 + 9 + 12;
    static constexpr bool is_regular = true;
    static constexpr std::string_view inputs = circulation_vector,
                                      outputs = velocity_and_stretching;
    static constexpr std::array point_parameters{
        point_parameter{"sigma", parameter_range::positive, "length"}, point_parameter{"alpha_x"},
        point_parameter{"alpha_y"}, point_parameter{"alpha_z"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, vec<V, 4> const& target,
                                 vec<V, 4> const& source) const -> two_way<stretching_map<V>>
    {
      return {{Core::at(r, source[0]), r, vector_at<1>(target)},
              {Core::at(r, target[0]), r, vector_at<1>(source)}};
    }
  };
}

namespace nearfield
{
  /// K(r) q = q x r / |r|^3, the velocity of a vortex element (the law of Biot and Savart), times 4 pi. Singular.
  struct biot_savart
  {
    static constexpr int dim = 3, n_in = 3, n_out = 3;
    static constexpr int flops = 3 + 5 + 1 + 2 + 9 + 6;
    static constexpr auto name = "biot_savart";
    static constexpr std::string_view formula = "q x r / |r|^3";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
    static constexpr std::string_view inputs = detail::circulation_vector, outputs = "velocity (3)";
    static constexpr int inv_r_power(int) { return 3; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r) const -> detail::curl_map<V>
    {
      return {inv_r * inv_r * inv_r, r};
    }
  };

  /// The gradient of biot_savart, du_i/dx_j row by row: (eps_ikj q_k - 3 (q x r)_i r_j / |r|^2) / |r|^3. Singular.
  struct grad_biot_savart
  {
    static constexpr int dim = 3, n_in = 3, n_out = 9;
    static constexpr int flops = 3 + 5 + 1 + 3 + 9 + 3 + 15 + 18;
    static constexpr auto name = "grad_biot_savart";
    static constexpr std::string_view formula =
        "du_i/dx_j = (eps_ikj q_k - 3 (q x r)_i r_j / |r|^2) / |r|^3";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
    static constexpr std::string_view inputs = detail::circulation_vector,
                                      outputs = detail::velocity_gradient;

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r) const
        -> detail::curl_gradient_map<V>
    {
      V const inv_r2 = inv_r * inv_r;
      return {{inv_r2 * inv_r, V(1), V(-3) * inv_r2}, r};
    }
  };

  /// Blobs of the Gaussian vorticity exp(-|r|^2 / (2 sigma^2)) / (2 pi sigma^2)^(3/2): K(r) q = q(rho) q x r / |r|^3 with
  /// rho = |r| / sigma and q(rho) = erf(rho / sqrt(2)) - sqrt(2 / pi) rho exp(-rho^2 / 2). Regular.
  struct gaussian_vortex : detail::blob_velocity<detail::gaussian_core>
  {
    static constexpr auto name = "gaussian_vortex";
    static constexpr std::string_view formula =
        "(erf(s) - 2 s exp(-s^2) / sqrt(pi)) q x r / |r|^3, s = |r| / (sqrt(2) sigma_source)";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };
  /// The gradient of gaussian_vortex, du_i/dx_j row by row. Regular.
  struct grad_gaussian_vortex : detail::blob_gradient<detail::gaussian_core>
  {
    static constexpr auto name = "grad_gaussian_vortex";
    static constexpr std::string_view formula = "du_i/dx_j of gaussian_vortex";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };
  /// The velocity u of gaussian_vortex and (alpha . grad) u with the alpha of the target, which stretches it. Regular.
  struct gaussian_vortex_stretching : detail::blob_stretching<detail::gaussian_core>
  {
    static constexpr auto name = "gaussian_vortex_stretching";
    static constexpr std::string_view formula = "u and (alpha . grad) u of gaussian_vortex";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };

  /// Blobs of the vorticity 15 sigma^4 / (8 pi (|r|^2 + sigma^2)^(7/2)), high-order algebraic:
  /// K(r) q = (|r|^2 + 5/2 sigma^2) / (|r|^2 + sigma^2)^(5/2) q x r. Regular.
  struct algebraic_vortex : detail::blob_velocity<detail::algebraic_core>
  {
    static constexpr auto name = "algebraic_vortex";
    static constexpr std::string_view formula =
        "(|r|^2 + 5/2 sigma^2) / (|r|^2 + sigma^2)^(5/2) q x r, sigma of the source";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };
  /// The gradient of algebraic_vortex, du_i/dx_j row by row. Regular.
  struct grad_algebraic_vortex : detail::blob_gradient<detail::algebraic_core>
  {
    static constexpr auto name = "grad_algebraic_vortex";
    static constexpr std::string_view formula = "du_i/dx_j of algebraic_vortex";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };
  /// The velocity u of algebraic_vortex and (alpha . grad) u with the alpha of the target, which stretches it. Regular.
  struct algebraic_vortex_stretching : detail::blob_stretching<detail::algebraic_core>
  {
    static constexpr auto name = "algebraic_vortex_stretching";
    static constexpr std::string_view formula = "u and (alpha . grad) u of algebraic_vortex";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
  };

  /// (alpha . grad) of the velocity too, for the singular element: alpha is that of the target. Singular.
  struct biot_savart_stretching
  {
    static constexpr int dim = 3, n_in = 3, n_out = 6, n_parameters = 3;
    static constexpr int flops = 3 + 5 + 1 + 3 + 6 + 18 + 6 + 6 + 6;
    static constexpr auto name = "biot_savart_stretching";
    static constexpr std::string_view formula = "u = q x r / |r|^3 and (alpha . grad) u";
    static constexpr std::string_view source = "Winckelmans & Leonard 1993";
    static constexpr std::string_view inputs = detail::circulation_vector,
                                      outputs = detail::velocity_and_stretching;
    static constexpr std::array point_parameters{
        point_parameter{"alpha_x"}, point_parameter{"alpha_y"}, point_parameter{"alpha_z"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r, V const& inv_r, vec<V, 3> const& target,
                                 vec<V, 3> const& from) const
        -> detail::two_way<detail::stretching_map<V>>
    {
      V const inv_r2 = inv_r * inv_r;
      detail::core_factors<V> const of{inv_r2 * inv_r, V(1), V(-3) * inv_r2};
      return {{of, r, target}, {of, r, from}};
    }
  };

  /// K(r) = (-r_y, r_x) / |r|^2, the velocity of a point vortex in two dimensions, times 2 pi. Singular.
  struct point_vortex
  {
    static constexpr int dim = 2, n_in = 1, n_out = 2;
    static constexpr int flops = 2 + 3 + 1 + 1 + 1 + 4;
    static constexpr auto name = "point_vortex";
    static constexpr std::string_view formula = "q (-r_y, r_x) / |r|^2";
    static constexpr std::string_view source = "Saffman 1992, section 7.1";
    static constexpr std::string_view inputs = "circulation", outputs = "velocity (2)";
    static constexpr int inv_r_power(int) { return 2; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 2> const& r, V const& inv_r) const -> radial<V, 2>
    {
      return {inv_r * inv_r, vec<V, 2>{{-r[1], r[0]}}};
    }
  };

  /// K(r) = (1 - exp(-|r|^2 / (2 sigma^2))) (-r_y, r_x) / |r|^2, the vortex of Lamb and Oseen: a Gaussian core, sigma^2 =
  /// 2 nu t after the time t. sigma of the source is a parameter. Regular.
  struct lamb_oseen
  {
    static constexpr int dim = 2, n_in = 1, n_out = 2, n_parameters = 1;
    static constexpr int flops = 2 + 3 + 2 + 2 + 3 + 22 + 2 + 1 + 4;
    static constexpr auto name = "lamb_oseen";
    static constexpr bool is_regular = true;
    static constexpr std::string_view formula =
        "q (1 - exp(-|r|^2 / (2 sigma^2))) (-r_y, r_x) / |r|^2, sigma of the source";
    static constexpr std::string_view source = "Saffman 1992, section 13.1";
    static constexpr std::string_view inputs = "circulation", outputs = "velocity (2)";
    static constexpr std::array point_parameters{
        point_parameter{"sigma", parameter_range::positive, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 2> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& from) const -> detail::two_way<radial<V, 2>>
    {
      V const r2 = dot(r, r);
      auto const at = [&](V const& sigma) __attribute__((always_inline)) -> radial<V, 2>
      {
        V const inv = V(0.5) / (sigma * sigma), y = r2 * inv;
        V near;
        // (1 - exp(-y)) / y within y = 1, to 2e-17 and, in float, 8e-8
        if constexpr (std::is_same_v<detail::real_of<V>, float>)
          near = detail::polynomial(y, 0.9999999404, -0.499994576, 0.1666051894, -0.04140653089,
                                    0.007823633961, -0.0009071297827);
        else
          near = detail::polynomial(
              y, 0.999999999999999985, -0.499999999999995751, 0.166666666666469366,
              -0.0416666666630597005, 0.00833333329911376318, -0.00138888869654786147,
              0.000198412010150405962, -2.47999581519748239e-5, 2.75314292212659223e-6,
              -2.72828836778651028e-7, 2.31737174297479271e-8, -1.31722334068706872e-9);
        V const far = (V(1) - nearfield::exp(-y)) / r2;
        return {select_less(y, V(1), inv * near, far), vec<V, 2>{{-r[1], r[0]}}};
      };
      return {at(from[0]), at(target[0])};
    }
  };
}

namespace nearfield::detail
{
  using vortex_interactions =
      type_list<biot_savart, grad_biot_savart, biot_savart_stretching, gaussian_vortex,
                grad_gaussian_vortex, gaussian_vortex_stretching, algebraic_vortex,
                grad_algebraic_vortex, algebraic_vortex_stretching, point_vortex, lamb_oseen>;
}
