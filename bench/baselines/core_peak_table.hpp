#pragma once

#include "core_peak.hpp"

#include <nearfield/core/config.hpp>

#include <xsimd/xsimd.hpp>

#include <type_traits>

namespace baseline
{
  /// V is a pack of T, or T itself.
  template <class V, class T, bool HasFma>
  double multiply(long rounds)
  {
    // 4 cycles of latency times 2 a cycle are 8, and SSE2 has 16 registers
    constexpr int chains = 10;
    T const volatile half = T(0.5), one = T(1);
    V const a(HasFma ? T(half) : T(one)), b(T{half});
    V value[chains];
    for (int c = 0; c < chains; ++c) value[c] = V(T(one) + T(c));
    for (long i = 0; i < rounds; ++i)
    {
      NEARFIELD_UNROLL
      for (int c = 0; c < chains; ++c)
      {
        if constexpr (HasFma)
          value[c] = xsimd::fma(value[c], a, b);
        else
          value[c] = value[c] * a;
      }
    }
    V sum = value[0];
    for (int c = 1; c < chains; ++c) sum = sum + value[c];
    T volatile sink;
    if constexpr (std::is_same_v<V, T>)
      sink = sum;
    else
    {
      T lanes[V::size];
      sum.store_unaligned(lanes);
      sink = lanes[0];
    }
    (void)sink;
    return double(rounds) * chains * double(sizeof(V) / sizeof(T));
  }

  template <class Arch>
  constexpr core_peak_table make_core_peak_table()
  {
    constexpr bool has_fma = !std::is_same_v<Arch, xsimd::sse2>;
    return {multiply<xsimd::batch<float, Arch>, float, has_fma>,
            multiply<xsimd::batch<double, Arch>, double, has_fma>};
  }
}
