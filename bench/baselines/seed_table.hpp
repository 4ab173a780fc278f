#pragma once

#include "seed.hpp"

#include <xsimd/xsimd.hpp>

#include <cmath>
#include <limits>

namespace baseline
{
  /// Arch only makes the instantiations of different files distinct.
  template <class Arch, class T, int Dim, bool Gradient>
  void plain_loop(std::size_t n, T const* const* x, T const* q, T* const* out)
  {
    for (std::size_t i = 0; i < n; ++i)
    {
      T sum[1 + Dim] = {};
      auto const add = [&](std::size_t j)
      {
        T r[Dim], r2 = 0;
        for (int d = 0; d < Dim; ++d)
        {
          r[d] = x[d][i] - x[d][j];
          r2 += r[d] * r[d];
        }
        T const value = q[j] / std::sqrt(r2);
        sum[0] += value;
        if constexpr (Gradient)
          for (int d = 0; d < Dim; ++d) sum[1 + d] -= value / r2 * r[d];
      };
      for (std::size_t j = 0; j < i; ++j) add(j);
      for (std::size_t j = i + 1; j < n; ++j) add(j);
      for (int o = 0; o < (Gradient ? 1 + Dim : 1); ++o) out[o][i] = sum[o];
    }
  }

  template <class Arch, class T, int Dim, bool Gradient>
  void simd_loop(std::size_t n, T const* const* x, T const* q, T* const* out)
  {
    using batch = xsimd::batch<T, Arch>;
    constexpr std::size_t width = batch::size;
    constexpr int n_out = Gradient ? 1 + Dim : 1;
    std::size_t const vectorised = n - n % width;

    alignas(64) T first_indices[width];
    for (std::size_t lane = 0; lane < width; ++lane) first_indices[lane] = static_cast<T>(lane);
    batch index = batch::load_unaligned(first_indices);
    batch const tolerance(std::numeric_limits<T>::epsilon());
    batch const zero(T(0));
    for (std::size_t i = 0; i < vectorised; i += width, index += batch(static_cast<T>(width)))
    {
      batch target[Dim], sum[n_out];
      for (int d = 0; d < Dim; ++d) target[d] = batch::load_unaligned(x[d] + i);
      for (batch& s : sum) s = zero;
      for (std::size_t j = 0; j < n; ++j)
      {
        batch r[Dim];
        for (int d = 0; d < Dim; ++d) r[d] = target[d] - batch(x[d][j]);
        batch r2 = r[0] * r[0];
        for (int d = 1; d < Dim; ++d) r2 += r[d] * r[d];
        auto const other = xsimd::abs(index - batch(static_cast<T>(j))) > tolerance;
        if constexpr (Gradient)
        {
          // one root and one division for value and gradient
          batch const inverse = batch(T(1)) / xsimd::sqrt(r2);
          batch const value = xsimd::select(other, batch(q[j]) * inverse, zero);
          batch const slope = xsimd::select(other, value * inverse * inverse, zero);
          sum[0] += value;
          for (int d = 0; d < Dim; ++d) sum[1 + d] -= slope * r[d];
        }
        else
          sum[0] += xsimd::select(other, batch(q[j]) / xsimd::sqrt(r2), zero);
      }
      for (int o = 0; o < n_out; ++o) sum[o].store_unaligned(out[o] + i);
    }
    for (std::size_t i = vectorised; i < n; ++i)
    {
      T sum[n_out] = {};
      for (std::size_t j = 0; j < n; ++j)
        if (i != j)
        {
          T r[Dim], r2 = 0;
          for (int d = 0; d < Dim; ++d)
          {
            r[d] = x[d][i] - x[d][j];
            r2 += r[d] * r[d];
          }
          T const value = q[j] / std::sqrt(r2);
          sum[0] += value;
          if constexpr (Gradient)
            for (int d = 0; d < Dim; ++d) sum[1 + d] -= value / r2 * r[d];
        }
      for (int o = 0; o < n_out; ++o) out[o][i] = sum[o];
    }
  }

  template <class Arch>
  constexpr seed_table make_seed_table()
  {
    return {{{&plain_loop<Arch, float, 2, false>, &plain_loop<Arch, float, 2, true>},
             {&plain_loop<Arch, float, 3, false>, &plain_loop<Arch, float, 3, true>}},
            {{&simd_loop<Arch, float, 2, false>, &simd_loop<Arch, float, 2, true>},
             {&simd_loop<Arch, float, 3, false>, &simd_loop<Arch, float, 3, true>}},
            {{&plain_loop<Arch, double, 2, false>, &plain_loop<Arch, double, 2, true>},
             {&plain_loop<Arch, double, 3, false>, &plain_loop<Arch, double, 3, true>}},
            {{&simd_loop<Arch, double, 2, false>, &simd_loop<Arch, double, 2, true>},
             {&simd_loop<Arch, double, 3, false>, &simd_loop<Arch, double, 3, true>}}};
  }
}
