#pragma once

#include "lanes.hpp"

#include <cstdint>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
#if defined(__AVX2__)
  /// The lanes in each mask of eight bits, one byte per lane, side by side: 2 KiB, which stay in L1.
  struct lanes_of_masks
  {
    std::uint64_t bytes[256];

    constexpr lanes_of_masks() : bytes{}
    {
      for (unsigned mask = 0; mask < 256; ++mask)
        for (unsigned l = 0, at = 0; l < 8; ++l)
          if (mask >> l & 1) bytes[mask] |= std::uint64_t(l) << (8 * at++);
    }
  };
  inline constexpr lanes_of_masks lanes8{};

  /// For each mask of four bits: the bytes of its 32-bit lanes, and the 32-bit
  /// halves of its 64-bit lanes.
  struct lanes_of_four
  {
    alignas(32) std::uint8_t bytes[16][16];
    alignas(32) std::uint32_t halves[16][8];

    constexpr lanes_of_four() : bytes{}, halves{}
    {
      for (unsigned mask = 0; mask < 16; ++mask)
        for (unsigned l = 0, at = 0; l < 4; ++l)
          if (mask >> l & 1)
          {
            for (unsigned b = 0; b < 4; ++b)
              bytes[mask][4 * at + b] = static_cast<std::uint8_t>(4 * l + b);
            halves[mask][2 * at] = 2 * l;
            halves[mask][2 * at + 1] = 2 * l + 1;
            ++at;
          }
    }
  };
  inline constexpr lanes_of_four lanes4{};

  template <class T>
  struct avx2_lanes;

  template <>
  struct avx2_lanes<float>
  {
    using real = float;
    using reg = __m256;
    using sums = __m256i;
    using indices = __m256i;
    static constexpr int width = 8;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg set(float value) { return _mm256_set1_ps(value); }
    static NEARFIELD_FN reg load(float const* p) { return _mm256_loadu_ps(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm256_sub_ps(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm256_mul_ps(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm256_add_ps(a, b); }
    static NEARFIELD_FN reg is_less(reg a, reg b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
    static NEARFIELD_FN unsigned less(reg a, reg b)
    {
      return static_cast<unsigned>(_mm256_movemask_ps(is_less(a, b)));
    }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const up = _mm256_and_ps(_mm256_cmp_ps(value, from, _CMP_GE_OQ), step);
      reg const minus = _mm256_sub_ps(_mm256_setzero_ps(), from);
      return _mm256_sub_ps(up, _mm256_and_ps(_mm256_cmp_ps(value, minus, _CMP_LE_OQ), step));
    }
    static NEARFIELD_FN int count(unsigned mask) { return __builtin_popcount(mask); }
    static NEARFIELD_FN sums no_sum() { return _mm256_setzero_si256(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      return _mm256_sub_epi32(sum, _mm256_castps_si256(is_less(a, b)));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
      s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
      s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
      return static_cast<index_type>(_mm_cvtsi128_si32(s));
    }
    static NEARFIELD_FN __m256i order(unsigned mask)
    {
      return _mm256_cvtepu8_epi32(
          _mm_loadl_epi64(reinterpret_cast<__m128i const*>(lanes8.bytes + mask)));
    }
    static NEARFIELD_FN indices load_indices(index_type const* p)
    {
      return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p));
    }
    static NEARFIELD_FN void compress(indices from, unsigned mask, index_type* to)
    {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_permutevar8x32_epi32(from, order(mask)));
    }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      compress(load_indices(from), mask, to);
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, float* to)
    {
      _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(from, order(mask)));
    }
  };

  template <>
  struct avx2_lanes<double>
  {
    using real = double;
    using reg = __m256d;
    using sums = __m256i;
    using indices = __m256i;
    static constexpr int width = 4;
    static constexpr int index_registers = 2;

    static NEARFIELD_FN reg set(double value) { return _mm256_set1_pd(value); }
    static NEARFIELD_FN reg load(double const* p) { return _mm256_loadu_pd(p); }
    static NEARFIELD_FN reg sub(reg a, reg b) { return _mm256_sub_pd(a, b); }
    static NEARFIELD_FN reg mul(reg a, reg b) { return _mm256_mul_pd(a, b); }
    static NEARFIELD_FN reg add(reg a, reg b) { return _mm256_add_pd(a, b); }
    static NEARFIELD_FN reg is_less(reg a, reg b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
    static NEARFIELD_FN unsigned less(reg a, reg b)
    {
      return static_cast<unsigned>(_mm256_movemask_pd(is_less(a, b)));
    }
    static NEARFIELD_FN reg signed_step(reg value, reg from, reg step)
    {
      reg const up = _mm256_and_pd(_mm256_cmp_pd(value, from, _CMP_GE_OQ), step);
      reg const minus = _mm256_sub_pd(_mm256_setzero_pd(), from);
      return _mm256_sub_pd(up, _mm256_and_pd(_mm256_cmp_pd(value, minus, _CMP_LE_OQ), step));
    }
    static NEARFIELD_FN int count(unsigned mask) { return __builtin_popcount(mask); }
    static NEARFIELD_FN sums no_sum() { return _mm256_setzero_si256(); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      return _mm256_sub_epi64(sum, _mm256_castpd_si256(is_less(a, b)));
    }
    static NEARFIELD_FN index_type total(sums sum)
    {
      __m128i s = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
      s = _mm_add_epi64(s, _mm_shuffle_epi32(s, 0x4e));
      return static_cast<index_type>(_mm_cvtsi128_si32(s));
    }
    static NEARFIELD_FN unsigned join(unsigned low, unsigned high) { return low | high << width; }
    static NEARFIELD_FN indices load_indices(index_type const* p)
    {
      return avx2_lanes<float>::load_indices(p);
    }
    static NEARFIELD_FN void compress(indices from, unsigned mask, index_type* to)
    {
      avx2_lanes<float>::compress(from, mask, to);
    }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      __m128i const all = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
      __m128i const order = _mm_load_si128(reinterpret_cast<__m128i const*>(lanes4.bytes[mask]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(all, order));
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, double* to)
    {
      __m256i const order =
          _mm256_load_si256(reinterpret_cast<__m256i const*>(lanes4.halves[mask]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_permutevar8x32_epi32(_mm256_castpd_si256(from), order));
    }
  };
#endif
}
