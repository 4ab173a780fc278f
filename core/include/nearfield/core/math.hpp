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
