#pragma once

/// \file
/// Kernels of the Helmholtz equation in three dimensions, for complex charges. Each complex number is two columns, its
/// real part and its imaginary part.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <string_view>

namespace nearfield
{
  namespace detail
  {
    inline constexpr std::string_view source_of_helmholtz =
        "D. Colton, R. Kress, Inverse Acoustic and Electromagnetic Scattering Theory, 3rd edition, "
        "eq. "
        "2.1, times 4 pi";

    /// A complex number.
    template <class V>
    struct complex_value
    {
      V re, im;

      friend NEARFIELD_FN constexpr complex_value operator*(complex_value const& a,
                                                            complex_value const& b)
      {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
      }
    };

    /// e^(i k |r|) / |r|
    template <class V>
    NEARFIELD_FN complex_value<V> wave_value(double k, vec<V, 3> const& r, V const& inv_r)
    {
      V sine, cosine;
      nearfield::sin_cos(V(k) * (dot(r, r) * inv_r), sine, cosine);
      return {inv_r * cosine, inv_r * sine};
    }
    /// (1 - i k |r|) / |r|^2, the factor of -r wave_value in the gradient
    template <class V>
    NEARFIELD_FN complex_value<V> wave_slope(double k, V const& inv_r)
    {
      return {inv_r * inv_r, V(-k) * inv_r};
    }

    template <class K>
    constexpr auto wave_parameters()
    {
      return std::array{parameter<K>{"k", &K::k, parameter_range::any, "1 / length"}};
    }

    /// K q = g q, of complex numbers.
    template <class V>
    struct complex_map
    {
      complex_value<V> g;

      NEARFIELD_FN constexpr vec<V, 2> to(vec<V, 2> const& q) const
      {
        auto const value = g * complex_value<V>{q[0], q[1]};
        return {{value.re, value.im}};
      }
      NEARFIELD_FN constexpr vec<V, 2> back(vec<V, 2> const& q) const { return to(q); }
    };

    /// K q = [g q; -g q s r], of complex numbers.
    template <class V>
    struct complex_value_radial
    {
      complex_value<V> g, s;
      vec<V, 3> r; ///< as it was given to K

      NEARFIELD_FN constexpr vec<V, 8> to(vec<V, 2> const& q) const { return apply<-1>(q); }
      NEARFIELD_FN constexpr vec<V, 8> back(vec<V, 2> const& q) const { return apply<1>(q); }

    private:
      template <int Sign>
      NEARFIELD_FN constexpr vec<V, 8> apply(vec<V, 2> const& q) const
      {
        auto const value = g * complex_value<V>{q[0], q[1]}, factor = s * value;
        auto const re = signed_multiple<Sign>(factor.re, r),
                   im = signed_multiple<Sign>(factor.im, r);
        return {{value.re, value.im, re[0], im[0], re[1], im[1], re[2], im[2]}};
      }
    };

    /// K q = g q . r, of complex numbers.
    template <class V>
    struct complex_along
    {
      complex_value<V> g;
      vec<V, 3> r; ///< as it was given to K

      NEARFIELD_FN constexpr vec<V, 2> to(vec<V, 6> const& q) const
      {
        auto const value = g * complex_value<V>{dot(vec<V, 3>{q[0], q[2], q[4]}, r),
                                                dot(vec<V, 3>{q[1], q[3], q[5]}, r)};
        return {{value.re, value.im}};
      }
      NEARFIELD_FN constexpr vec<V, 2> back(vec<V, 6> const& q) const
      {
        auto const value = to(q);
        return {{-value[0], -value[1]}};
      }
    };
  }

  /// K(r) = e^(i k |r|) / |r|, the outgoing wave of a complex point source under e^(-i omega t): 4 pi times the fundamental
  /// solution of -(Laplacian + k^2). Singular.
  struct helmholtz
  {
    static constexpr int dim = 3, n_in = 2, n_out = 2;
    static constexpr int flops = 3 + 5 + 1 + 2 + 2 + 2 + 4 + 4; // sine and cosine count 1 each
    static constexpr auto name = "helmholtz";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "exp(i k |r|) / |r|", inputs = "re, im of charge",
                                      outputs = "re, im of potential",
                                      source = detail::source_of_helmholtz;
    static constexpr auto parameters() { return detail::wave_parameters<helmholtz>(); }

    double k = 1; ///< length^-1, of either sign

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::complex_map<V>
    {
      return {detail::wave_value(k, r, inv_r)};
    }
  };

  /// K(r) = [g; -(1 - i k |r|) g r / |r|^2] with g = e^(i k |r|) / |r|: the value, then its gradient with respect to the
  /// target, x, y and z. Singular.
  struct val_grad_helmholtz
  {
    static constexpr int dim = 3, n_in = 2, n_out = 8;
    static constexpr int flops = 3 + 5 + 1 + 2 + 2 + 2 + 2 + 6 + 6 + 2 + 2 * 6;
    static constexpr auto name = "val_grad_helmholtz";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view
        formula = "[g; -(1 - i k |r|) g r / |r|^2] with g = exp(i k |r|) / |r|",
        inputs = "re, im of charge", outputs = "re, im of potential, and of d/dx, d/dy, d/dz",
        source = detail::source_of_helmholtz;
    static constexpr auto parameters() { return detail::wave_parameters<val_grad_helmholtz>(); }

    double k = 1; ///< length^-1, of either sign

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::complex_value_radial<V>
    {
      return {detail::wave_value(k, r, inv_r), detail::wave_slope(k, inv_r), r};
    }
  };

  /// K(r) q = (1 - i k |r|) e^(i k |r|) q . r / |r|^3, the wave of a complex point dipole: q . grad_y of `helmholtz`,
  /// with respect to the source. Singular.
  struct dipole_helmholtz
  {
    static constexpr int dim = 3, n_in = 6, n_out = 2;
    static constexpr int flops = 3 + 5 + 1 + 2 + 2 + 2 + 2 + 6 + 10 + 4 + 4;
    static constexpr auto name = "dipole_helmholtz";
    static constexpr bool calls_functions = true;
    static constexpr std::string_view formula = "(1 - i k |r|) exp(i k |r|) q . r / |r|^3",
                                      inputs = "re, im of dipole x, y, z",
                                      outputs = "re, im of potential",
                                      source = detail::source_of_helmholtz;
    static constexpr auto parameters() { return detail::wave_parameters<dipole_helmholtz>(); }

    double k = 1; ///< length^-1, of either sign

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::complex_along<V>
    {
      return {detail::wave_value(k, r, inv_r) * detail::wave_slope(k, inv_r), r};
    }
  };
}

namespace nearfield::detail
{
  using helmholtz_interactions = type_list<helmholtz, val_grad_helmholtz, dipole_helmholtz>;
}
