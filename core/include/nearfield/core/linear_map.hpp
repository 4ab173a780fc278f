#pragma once

#include <nearfield/core/config.hpp>

#include <array>
#include <concepts>
#include <type_traits>

namespace nearfield
{
  /// A small column of N values of type V (a real, a SIMD pack or a device scalar).
  template <class V, int N>
  struct vec
  {
    V data[N]; ///< the components

    /// Component i.
    NEARFIELD_FN constexpr V& operator[](int i) { return data[i]; }
    /// Component i.
    NEARFIELD_FN constexpr V const& operator[](int i) const { return data[i]; }

    /// Component by component.
    NEARFIELD_FN constexpr vec& operator+=(vec const& other)
    {
      NEARFIELD_UNROLL
      for (int i = 0; i < N; ++i) data[i] = data[i] + other[i];
      return *this;
    }

    /// Component by component.
    NEARFIELD_FN constexpr vec& operator-=(vec const& other)
    {
      NEARFIELD_UNROLL
      for (int i = 0; i < N; ++i) data[i] = data[i] - other[i];
      return *this;
    }

    friend NEARFIELD_FN constexpr vec operator+(vec a, vec const& b) { return a += b; }
    friend NEARFIELD_FN constexpr vec operator-(vec a, vec const& b) { return a -= b; }

    friend NEARFIELD_FN constexpr vec operator*(V const& s, vec const& a)
    {
      vec result;
      NEARFIELD_UNROLL
      for (int i = 0; i < N; ++i) result[i] = s * a[i];
      return result;
    }

    /// sum_i a_i b_i
    friend NEARFIELD_FN constexpr V dot(vec const& a, vec const& b)
    {
      V sum = a[0] * b[0];
      NEARFIELD_UNROLL
      for (int i = 1; i < N; ++i) sum = sum + a[i] * b[i];
      return sum;
    }
  };

  /// The parity of an output of K: K(-r) = K(r) (even) or K(-r) = -K(r) (odd). An interaction declares that of its output
  /// or, for several, one of each as std::array<parity, n_out>.
  enum class parity
  {
    even,
    odd
  };

  namespace detail
  {
    /// A value that converts to V, if need be by a cast: a double in a map of float, or a number in one of packs.
    template <class V>
    struct as_value
    {
      V value;

      template <class Given>
        requires std::is_constructible_v<V, Given const&>
      NEARFIELD_FN constexpr as_value(Given const& given) : value(static_cast<V>(given))
      {} // NOLINT
    };
  }

  /// The full matrix: out_o = sum_i K_oi q_i. Its parity is that of the interaction.
  template <class V, int NOut, int NIn>
  struct mat
  {
    V data[NOut][NIn]; ///< K_oi

    mat() = default;
    /// From {{K_00, K_01 ...}, {K_10 ...} ...}; numbers of another type become V.
    NEARFIELD_FN constexpr mat(detail::as_value<V> const (&values)[NOut][NIn]) // NOLINT
    {
      NEARFIELD_UNROLL
      for (int o = 0; o < NOut; ++o) NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i) data[o][i] = values[o][i].value;
    }

    NEARFIELD_FN constexpr vec<V, NOut> to(vec<V, NIn> const& q) const
    {
      vec<V, NOut> result;
      NEARFIELD_UNROLL
      for (int o = 0; o < NOut; ++o)
      {
        result[o] = data[o][0] * q[0];
        NEARFIELD_UNROLL
        for (int i = 1; i < NIn; ++i) result[o] = result[o] + data[o][i] * q[i];
      }
      return result;
    }
  };

  namespace detail
  {
    /// Sign s r. The negation comes last, where it folds into the addition that follows.
    template <int Sign, class V, int D>
    NEARFIELD_FN constexpr vec<V, D> signed_multiple(V const& s, vec<V, D> const& r)
    {
      vec<V, D> result = s * r;
      NEARFIELD_UNROLL
      for (int d = 0; d < D; ++d)
        if constexpr (Sign < 0) result[d] = -result[d];
      return result;
    }
  }

  /// K = Sign c r, odd in r: n_in = 1, n_out = D.
  template <class V, int D, int Sign = 1>
  struct radial
  {
    V c;         ///< the factor of r
    vec<V, D> r; ///< as it was given to K

    radial() = default;
    /// {c, r}
    NEARFIELD_FN constexpr radial(detail::as_value<V> const& factor, vec<V, D> const& given)
        : c(factor.value), r(given)
    {}

    NEARFIELD_FN constexpr vec<V, D> to(vec<V, 1> const& q) const
    {
      return detail::signed_multiple<Sign>(c * q[0], r);
    }
    NEARFIELD_FN constexpr vec<V, D> back(vec<V, 1> const& q) const
    {
      return detail::signed_multiple<-Sign>(c * q[0], r);
    }
  };

  /// K = [a; Sign a c r], a value and its gradient: n_in = 1, n_out = 1 + D.
  template <class V, int D, int Sign = 1>
  struct value_radial
  {
    V a;         ///< the value
    V c;         ///< a c is the factor of r
    vec<V, D> r; ///< as it was given to K

    value_radial() = default;
    /// {a, c, r}
    NEARFIELD_FN constexpr value_radial(detail::as_value<V> const& value,
                                        detail::as_value<V> const& factor, vec<V, D> const& given)
        : a(value.value), c(factor.value), r(given)
    {}

    NEARFIELD_FN constexpr vec<V, 1 + D> to(vec<V, 1> const& q) const { return apply<Sign>(q); }
    NEARFIELD_FN constexpr vec<V, 1 + D> back(vec<V, 1> const& q) const { return apply<-Sign>(q); }

  private:
    template <int S>
    NEARFIELD_FN constexpr vec<V, 1 + D> apply(vec<V, 1> const& q) const
    {
      V const value = a * q[0];
      vec<V, D> const gradient = detail::signed_multiple<S>(value * c, r);
      vec<V, 1 + D> result;
      result[0] = value;
      NEARFIELD_UNROLL
      for (int d = 0; d < D; ++d) result[1 + d] = gradient[d];
      return result;
    }
  };

  /// K = [a; c r], an even value and a vector along r: n_in = 1, n_out = 1 + D. Where c / a is at hand and a is not zero,
  /// value_radial has one product less.
  template <class V, int D>
  struct value_and_radial
  {
    V a;         ///< the value
    V c;         ///< the factor of r
    vec<V, D> r; ///< as it was given to K

    value_and_radial() = default;
    /// {a, c, r}
    NEARFIELD_FN constexpr value_and_radial(detail::as_value<V> const& value,
                                            detail::as_value<V> const& factor,
                                            vec<V, D> const& given)
        : a(value.value), c(factor.value), r(given)
    {}

    NEARFIELD_FN constexpr vec<V, 1 + D> to(vec<V, 1> const& q) const { return apply<1>(q); }
    NEARFIELD_FN constexpr vec<V, 1 + D> back(vec<V, 1> const& q) const { return apply<-1>(q); }

  private:
    template <int S>
    NEARFIELD_FN constexpr vec<V, 1 + D> apply(vec<V, 1> const& q) const
    {
      vec<V, D> const along = detail::signed_multiple<S>(c * q[0], r);
      vec<V, 1 + D> result;
      result[0] = a * q[0];
      NEARFIELD_UNROLL
      for (int d = 0; d < D; ++d) result[1 + d] = along[d];
      return result;
    }
  };

  /// K = c r^T, odd in r: n_in = D, n_out = 1, the potential of a dipole.
  template <class V, int D>
  struct along
  {
    V c;         ///< the factor of r
    vec<V, D> r; ///< as it was given to K

    NEARFIELD_FN constexpr vec<V, 1> to(vec<V, D> const& q) const { return {{c * dot(r, q)}}; }
    NEARFIELD_FN constexpr vec<V, 1> back(vec<V, D> const& q) const { return {{-(c * dot(r, q))}}; }
  };

  /// K = c (a I + b r r^T), even in r: n_in = n_out = D. Put the magnitude of K into c and keep a
  /// and b |r|^2 near 1: then nothing overflows or underflows before K does.
  template <class V, int D>
  struct isotropic
  {
    V c;         ///< the factor of the whole matrix
    V a;         ///< the factor of I
    V b;         ///< the factor of r r^T
    vec<V, D> r; ///< as it was given to K

    isotropic() = default;
    /// {c, a, b, r}
    NEARFIELD_FN constexpr isotropic(detail::as_value<V> const& factor,
                                     detail::as_value<V> const& of_identity,
                                     detail::as_value<V> const& of_r, vec<V, D> const& given)
        : c(factor.value), a(of_identity.value), b(of_r.value), r(given)
    {}

    NEARFIELD_FN constexpr vec<V, D> to(vec<V, D> const& q) const
    {
      V const along = b * dot(r, q);
      vec<V, D> result;
      NEARFIELD_UNROLL
      for (int d = 0; d < D; ++d) result[d] = c * (along * r[d] + a * q[d]);
      return result;
    }
    NEARFIELD_FN constexpr vec<V, D> back(vec<V, D> const& q) const { return to(q); }
  };

  namespace detail
  {
    /// K = a and K(-r) = b, one number each.
    template <class V>
    struct two_ways
    {
      V there, back_there;

      NEARFIELD_FN constexpr vec<V, 1> to(vec<V, 1> const& q) const { return {{there * q[0]}}; }
      NEARFIELD_FN constexpr vec<V, 1> back(vec<V, 1> const& q) const
      {
        return {{back_there * q[0]}};
      }
    };

    /// A map whose way back has parameters of its own: those of the other point.
    template <class Map>
    struct two_way
    {
      Map there, other; ///< of K(r; target, source) and of K(r; source, target)

      template <class V, int NIn>
      NEARFIELD_FN auto to(vec<V, NIn> const& q) const
      {
        return there.to(q);
      }
      template <class V, int NIn>
      NEARFIELD_FN auto back(vec<V, NIn> const& q) const
      {
        return other.back(q);
      }
    };

    template <class V>
    NEARFIELD_FN vec<V, 3> cross(vec<V, 3> const& a, vec<V, 3> const& b)
    {
      return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
    }
  }

  /// K q, for expressions such as `acc += k(r) * q`.
  template <class Map, class V, int NIn>
    requires requires(Map const& map, vec<V, NIn> const& q) { map.to(q); }
  NEARFIELD_FN constexpr auto operator*(Map const& map, vec<V, NIn> const& q)
  {
    return map.to(q);
  }
}
