#pragma once

#include <nearfield/core/config.hpp>

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
}
