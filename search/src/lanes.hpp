#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// \file
/// What a search needs of a register: arithmetic, comparison, and *compress*, which stores the lanes of a mask
/// side by side. xsimd has no compress, so these are intrinsics. compress writes a whole register, so there must
/// be room for it. `indices` are those of `index_registers` registers, whose masks join() combines.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// One value: the scalar back-end.
  template <class T>
  struct one_lane
  {
    using real = T;
    using reg = T;
    using sums = index_type;
    using indices = index_type const*;
    static constexpr int width = 1;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg set(T value) { return value; }
    static NEARFIELD_FN reg load(T const* p) { return *p; }
    static NEARFIELD_FN reg sub(reg a, reg b) { return a - b; }
    static NEARFIELD_FN reg mul(reg a, reg b) { return a * b; }
    static NEARFIELD_FN reg add(reg a, reg b) { return a + b; }
    static NEARFIELD_FN unsigned less(reg a, reg b) { return a < b; }
    /// step if value >= from, -step if value <= -from, otherwise 0
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      return value >= from ? step : value <= -from ? -step : T(0);
    }
    static NEARFIELD_FN int count(unsigned mask) { return static_cast<int>(mask); }
    static NEARFIELD_FN sums no_sum() { return 0; }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b) { return sum + (a < b); }
    static NEARFIELD_FN index_type total(sums sum) { return sum; }
    static NEARFIELD_FN indices load_indices(index_type const* p) { return p; }
    static NEARFIELD_FN void compress(index_type const* from, unsigned, index_type* to)
    {
      *to = *from;
    }
    static NEARFIELD_FN void compress(reg from, unsigned, T* to) { *to = from; }
  };

  // Compress for two or four lanes without a shuffle by table: each lane is stored at the next free place,
  // which advances if the lane is in the mask.
  template <int Width, class T>
  NEARFIELD_FN void store_each(T const* from, unsigned mask, T* to)
  {
    NEARFIELD_UNROLL
    for (int l = 0; l < Width; ++l)
    {
      *to = from[l];
      to += mask >> l & 1;
    }
  }

#if defined(__SSE2__)
  template <class T>
  struct sse2_lanes;

  template <>
  struct sse2_lanes<float>
  {
    using real = float;
    using reg = __m128;
    using sums = __m128i;
    using indices = index_type const*;
    static constexpr int width = 4;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg set(float value) { return _mm_set1_ps(value); }
    static NEARFIELD_FN reg load(float const* p) { return _mm_loadu_ps(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm_sub_ps(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm_mul_ps(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm_add_ps(a, b); }
    static NEARFIELD_FN unsigned less(reg a, reg b)
    {
      return static_cast<unsigned>(_mm_movemask_ps(_mm_cmplt_ps(a, b)));
    }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const up = _mm_and_ps(_mm_cmpge_ps(value, from), step);
      reg const below = _mm_cmple_ps(value, _mm_sub_ps(_mm_setzero_ps(), from));
      return _mm_sub_ps(up, _mm_and_ps(below, step));
    }
    static NEARFIELD_FN int count(unsigned mask) { return 0x4332322132212110 >> (4 * mask) & 7; }
    static NEARFIELD_FN sums no_sum() { return _mm_setzero_si128(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      return _mm_sub_epi32(sum, _mm_castps_si128(_mm_cmplt_ps(a, b)));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
      sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
      return static_cast<index_type>(_mm_cvtsi128_si32(sum));
    }
    static NEARFIELD_FN indices load_indices(index_type const* p) { return p; }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      store_each<4>(from, mask, to);
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, float* to)
    {
      float lanes[4];
      _mm_storeu_ps(lanes, from);
      store_each<4>(lanes, mask, to);
    }
  };

  template <>
  struct sse2_lanes<double>
  {
    using real = double;
    using reg = __m128d;
    using sums = __m128i;
    using indices = index_type const*;
    static constexpr int width = 2;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg set(double value) { return _mm_set1_pd(value); }
    static NEARFIELD_FN reg load(double const* p) { return _mm_loadu_pd(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm_sub_pd(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm_mul_pd(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm_add_pd(a, b); }
    static NEARFIELD_FN unsigned less(reg a, reg b)
    {
      return static_cast<unsigned>(_mm_movemask_pd(_mm_cmplt_pd(a, b)));
    }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const up = _mm_and_pd(_mm_cmpge_pd(value, from), step);
      reg const below = _mm_cmple_pd(value, _mm_sub_pd(_mm_setzero_pd(), from));
      return _mm_sub_pd(up, _mm_and_pd(below, step));
    }
    static NEARFIELD_FN int count(unsigned mask) { return static_cast<int>((mask + 1) >> 1); }
    static NEARFIELD_FN sums no_sum() { return _mm_setzero_si128(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      return _mm_sub_epi64(sum, _mm_castpd_si128(_mm_cmplt_pd(a, b)));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
      return static_cast<index_type>(_mm_cvtsi128_si32(sum));
    }
    static NEARFIELD_FN indices load_indices(index_type const* p) { return p; }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      store_each<2>(from, mask, to);
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, double* to)
    {
      double lanes[2];
      _mm_storeu_pd(lanes, from);
      store_each<2>(lanes, mask, to);
    }
  };
#endif
}
