#pragma once

#include "lanes.hpp"

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
#if defined(__AVX512F__)
  template <class T>
  struct avx512_lanes;

  // Compress to a register, then store: a compressing store is microcode on Zen 4 and 5.

  template <>
  struct avx512_lanes<float>
  {
    using real = float;
    using reg = __m512;
    using sums = __m512i;
    using indices = __m512i;
    static constexpr int width = 16;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg set(float value) { return _mm512_set1_ps(value); }
    static NEARFIELD_FN reg load(float const* p) { return _mm512_loadu_ps(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm512_sub_ps(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm512_mul_ps(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm512_add_ps(a, b); }
    static NEARFIELD_FN unsigned less(reg a, reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const minus = _mm512_sub_ps(_mm512_setzero_ps(), from);
      reg const up = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(value, from, _CMP_GE_OQ), step);
      return _mm512_mask_sub_ps(up, _mm512_cmp_ps_mask(value, minus, _CMP_LE_OQ), up, step);
    }
    static NEARFIELD_FN int count(unsigned mask) { return __builtin_popcount(mask); }
    static NEARFIELD_FN sums no_sum() { return _mm512_setzero_si512(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      __mmask16 const in = _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
      return _mm512_mask_add_epi32(sum, in, sum, _mm512_set1_epi32(1));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      return static_cast<index_type>(_mm512_reduce_add_epi32(sum));
    }
    static NEARFIELD_FN indices load_indices(index_type const* p) { return _mm512_loadu_si512(p); }
    static NEARFIELD_FN void compress(indices from, unsigned mask, index_type* to)
    {
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), from));
    }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      compress(load_indices(from), mask, to);
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, float* to)
    {
      _mm512_storeu_ps(to, _mm512_maskz_compress_ps(static_cast<__mmask16>(mask), from));
    }
  };

  template <>
  struct avx512_lanes<double>
  {
    using real = double;
    using reg = __m512d;
    using sums = __m512i;
    using indices = __m512i;
    static constexpr int width = 8;
    static constexpr int index_registers = 2;

    static NEARFIELD_FN reg set(double value) { return _mm512_set1_pd(value); }
    static NEARFIELD_FN reg load(double const* p) { return _mm512_loadu_pd(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm512_sub_pd(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm512_mul_pd(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm512_add_pd(a, b); }
    static NEARFIELD_FN unsigned less(reg a, reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const minus = _mm512_sub_pd(_mm512_setzero_pd(), from);
      reg const up = _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(value, from, _CMP_GE_OQ), step);
      return _mm512_mask_sub_pd(up, _mm512_cmp_pd_mask(value, minus, _CMP_LE_OQ), up, step);
    }
    static NEARFIELD_FN int count(unsigned mask) { return __builtin_popcount(mask); }
    static NEARFIELD_FN sums no_sum() { return _mm512_setzero_si512(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      __mmask8 const in = _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
      return _mm512_mask_add_epi64(sum, in, sum, _mm512_set1_epi64(1));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      return static_cast<index_type>(_mm512_reduce_add_epi64(sum));
    }
    static NEARFIELD_FN unsigned join(unsigned low, unsigned high)
    {
      return _mm512_kunpackb(static_cast<__mmask16>(high), static_cast<__mmask16>(low));
    }
    static NEARFIELD_FN indices load_indices(index_type const* p)
    {
      return avx512_lanes<float>::load_indices(p);
    }
    static NEARFIELD_FN void compress(indices from, unsigned mask, index_type* to)
    {
      avx512_lanes<float>::compress(from, mask, to);
    }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      __m256i const all = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_maskz_compress_epi32(static_cast<__mmask8>(mask), all));
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, double* to)
    {
      _mm512_storeu_pd(to, _mm512_maskz_compress_pd(static_cast<__mmask8>(mask), from));
    }
  };
#endif
}
