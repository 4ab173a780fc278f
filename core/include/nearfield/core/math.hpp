#pragma once

#include <nearfield/core/config.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace nearfield
{
  /// The arithmetic of a value type V and access to its lanes; SIMD packs specialise it
  /// (nearfield/simd/pack.hpp). Another way to compute roots is another value type, so no
  /// interaction has to know about it.
  template <class V>
  struct math;

#if defined(__CUDACC__)
  namespace detail
  {
    /// 1 / sqrt(x) on the special function unit, which takes subnormal x as zero.
    __device__ __forceinline__ float device_rsqrt(float x)
    {
      float y;
      asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
      return y;
    }

    /// The same in double: the unit gives 20 bits, one third-order step the others.
    __device__ __forceinline__ double device_rsqrt(double x)
    {
      double y;
      asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
      double const e = ::fma(-x * y, y, 1.0);
      return ::fma(::fma(0.375, e, 0.5) * e, y, y);
    }
  }
#endif

  /// A plain float or double: one lane.
  template <class T>
    requires std::is_floating_point_v<T>
  struct math<T>
  {
    using real = T; ///< the type of a lane

    /// 1 / sqrt(x) to full precision for every normal x
    static NEARFIELD_FN T rsqrt(T x)
    {
#if defined(__CUDA_ARCH__)
      return detail::device_rsqrt(x);
#else
      return T(1) / std::sqrt(x);
#endif
    }
    /// The square root of every lane.
    static NEARFIELD_FN T sqrt(T x) { return std::sqrt(x); }
    /// The exponential of every lane.
    static NEARFIELD_FN T exp(T x) { return std::exp(x); }
    /// The natural logarithm of every lane.
    static NEARFIELD_FN T log(T x) { return std::log(x); }
    /// The sine of every lane.
    static NEARFIELD_FN T sin(T x) { return std::sin(x); }
    /// The cosine of every lane.
    static NEARFIELD_FN T cos(T x) { return std::cos(x); }
    /// The sine and the cosine of every lane.
    static NEARFIELD_FN void sin_cos(T x, T& sine, T& cosine)
    {
#if defined(__CUDA_ARCH__)
      ::sincos(x, &sine, &cosine);
#else
      sine = std::sin(x);
      cosine = std::cos(x);
#endif
    }
    /// The error function of every lane.
    static NEARFIELD_FN T erf(T x) { return std::erf(x); }
    /// 1 - erf of every lane.
    static NEARFIELD_FN T erfc(T x) { return std::erfc(x); }
    /// y where x != 0, else 0; x is not negative
    static NEARFIELD_FN T keep_nonzero(T x, T y) { return x != T(0) ? y : T(0); }
    /// y where a < b, else 0
    static NEARFIELD_FN T keep_less(T a, T b, T y) { return a < b ? y : T(0); }
    /// y where a < b, else z
    static NEARFIELD_FN T select_less(T a, T b, T y, T z) { return a < b ? y : z; }
    /// Whether a < b in some lane.
    static NEARFIELD_FN bool any_less(T a, T b) { return a < b; }
    /// table[i] for a whole number i below n in every lane; another number gives some value of the table, NaN the first
    static NEARFIELD_FN T lookup(T const* table, int n, T i)
    {
#if defined(__CUDA_ARCH__)
      int const at = static_cast<int>(i); // NaN and what is no int give the least int or 0
      return table[at < 0 ? 0 : at < n ? at : n - 1];
#else
      T const last = static_cast<T>(n - 1);
      return table[static_cast<int>(i > T(0) ? i < last ? i : last : T(0))];
#endif
    }
    /// root_scale / sqrt(x), the cheapest form: the constant is taken out once, at the end of a sum
    static NEARFIELD_FN T scaled_rsqrt(T x) { return rsqrt(x); }
    static constexpr double root_scale = 1; ///< the ratio of scaled_rsqrt to rsqrt

    static constexpr int width = 1; ///< the number of lanes
    /// Loads `width` reals from p.
    static NEARFIELD_FN T load(T const* p) { return *p; }
    /// Stores `width` reals to p.
    static NEARFIELD_FN void store(T* p, T x) { *p = x; }
    /// the sum over the lanes
    static NEARFIELD_FN T sum(T x) { return x; }
  };

  /// 1 / sqrt(x) to full precision for every normal x.
  template <class V>
  NEARFIELD_FN V rsqrt(V const& x)
  {
    return math<V>::rsqrt(x);
  }
  /// sqrt(x) of every lane.
  template <class V>
  NEARFIELD_FN V sqrt(V const& x)
  {
    return math<V>::sqrt(x);
  }
  /// e^x of every lane.
  template <class V>
  NEARFIELD_FN V exp(V const& x)
  {
    return math<V>::exp(x);
  }
  /// The natural logarithm of every lane.
  template <class V>
  NEARFIELD_FN V log(V const& x)
  {
    return math<V>::log(x);
  }
  /// The sine of every lane, of an angle in radians.
  template <class V>
  NEARFIELD_FN V sin(V const& x)
  {
    return math<V>::sin(x);
  }
  /// The cosine of every lane, of an angle in radians.
  template <class V>
  NEARFIELD_FN V cos(V const& x)
  {
    return math<V>::cos(x);
  }
  /// The sine and the cosine of every lane at once, to a few units of the last place of 1. With SIMD |x| must be below
  /// 2^50 in double and 2^21 in float; beyond 2^20 and 2^10 an error of eps |x| adds where there is no fma.
  template <class V>
  NEARFIELD_FN void sin_cos(V const& x, V& sine, V& cosine)
  {
    math<V>::sin_cos(x, sine, cosine);
  }
  /// The error function of every lane, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
  template <class V>
  NEARFIELD_FN V erf(V const& x)
  {
    return math<V>::erf(x);
  }
  /// 1 - erf(x) of every lane.
  template <class V>
  NEARFIELD_FN V erfc(V const& x)
  {
    return math<V>::erfc(x);
  }

  namespace detail
  {
    /// c_0 + c_2 y + c_4 y^2 ...
    template <class V>
    NEARFIELD_FN V even_part(V const&, double c, double = 0)
    {
      return V(c);
    }
    template <class V, class... More>
    NEARFIELD_FN V even_part(V const& y, double c, double, double next, More... more)
    {
      return even_part(y, next, more...) * y + V(c);
    }

    /// c_0 + c_1 x + c_2 x^2 ..., even and odd powers apart: two chains of half the length.
    template <class V, class... More>
    NEARFIELD_FN V polynomial(V const& x, double c, More... more)
    {
      V const y = x * x;
      return even_part(y, more...) * x + even_part(y, c, more...);
    }
  }

  /// e^(x^2) erfc(x) of every lane, where x is at least 0 and at most 27 (float: 10); beyond it is finite. For what decays as
  /// e^(-x^2), which then costs one exponential. The relative error is a few units of the last place.
  ///
  /// It is s P(b s - a) with s = 1 / (x + c): P interpolates at the Chebyshev points of that range, in 50 digits
  /// (tools/fit_functions.py). The map is that of M. M. Shepherd and J. G. Laframboise, Math. Comp. 36, 249, 1981,
  /// doi:10.1090/S0025-5718-1981-0595058-X.
  template <class V>
  NEARFIELD_FN V erfcx(V const& x)
  {
    if constexpr (std::is_same_v<typename math<V>::real, float>)
    {
      V const s = V(1) / (x + V(2.5));
      return s * detail::polynomial(V(6.5) * s - V(0.5), 0.6953947059, 0.3158642072, 0.1252214069,
                                    0.04139208364, 0.01053594455, 0.001067997525, 0.0001049482802,
                                    -0.0004414697565, 5.504764e-5, 1.453842793e-5, -2.785873961e-6);
    }
    else
    {
      V const s = V(1) / (x + V(3.75));
      return s * detail::polynomial(
                     V(8.5) * s - V(0.5), 0.721821686964385941, 0.398175252365734348,
                     0.206591227832782668, 0.100108898840615526, 0.0448767586611733376,
                     0.0183604217596236437, 0.00671502401501184595, 0.00211839246619083095,
                     0.000534884211477514404, 0.0000853198570555396809, -4.98856639044037985e-6,
                     -9.09058500818215996e-6, -2.53451437506386414e-6, -1.02000555830238251e-6,
                     1.30961219750849637e-6, -8.88019148210382406e-7, 6.56482745088867782e-7,
                     -3.07622630558070636e-7, 8.11076835441785689e-8, -1.14282873935897177e-8,
                     6.81817795674202344e-10);
    }
  }

  /// y where a < b, else 0: cuts an interaction off.
  template <class V>
  NEARFIELD_FN V keep_less(V const& a, std::type_identity_t<V> const& b,
                           std::type_identity_t<V> const& y)
  {
    return math<V>::keep_less(a, b, y);
  }
  /// y where a < b, else z, which may be infinite or NaN where it is left out.
  template <class V>
  NEARFIELD_FN V select_less(V const& a, std::type_identity_t<V> const& b,
                             std::type_identity_t<V> const& y, std::type_identity_t<V> const& z)
  {
    return math<V>::select_less(a, b, y, z);
  }

  /// N values that an interaction looks up in either precision.
  template <int N>
  struct lookup_table
  {
    double of_double[N]; ///< the values
    float of_float[N];   ///< the same, rounded

    /// Sets value i.
    constexpr void set(int i, double value)
    {
      of_double[i] = value;
      of_float[i] = static_cast<float>(value);
    }
    /// Value i of every lane; the lanes of i hold whole numbers below N. A lane that does not gets some value of the
    /// table, and the first if it is NaN or negative.
    template <class V>
    NEARFIELD_FN V at(V const& i) const
    {
      if constexpr (N == 1)
        return V(of_double[0]);
      else if constexpr (std::is_same_v<typename math<V>::real, float>)
        return math<V>::lookup(of_float, N, i);
      else
        return math<V>::lookup(of_double, N, i);
    }
  };

  namespace detail
  {
    /// The real type of the lanes of V.
    template <class V>
    using real_of = typename math<V>::real;

    /// 1 / sqrt(x), and 0 where x is 0 or too small for a normal number.
    template <class V>
    NEARFIELD_FN V rsqrt_or_zero(V const& x)
    {
      constexpr real_of<V> least = std::numeric_limits<real_of<V>>::min();
      return keep_less(V(least), x, rsqrt(x));
    }

    /// Values of which the first lanes can be loaded alone.
    template <class V>
    concept loads_in_part =
        requires(real_of<V> const* p, V const& rest) { math<V>::load_first(p, 1, rest); };
  }
}
