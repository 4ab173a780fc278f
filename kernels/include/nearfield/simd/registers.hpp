#pragma once

/// \file
/// What xsimd lacks, for the registers of each instruction set: reciprocal square root seeds of known
/// accuracy (xsimd::rsqrt has 12 bits in either precision, and its AVX-512 form does not compile in version
/// 8.1.0), a test for zero that does not use the multipliers, and sums of 16 registers at once (xsimd::haddp
/// gives them in another order in its AVX-512 form for floats).
///
/// Every function here is forced inline and takes raw registers, so it leaves no symbol that two
/// instruction sets could share.

#include <nearfield/core/config.hpp>

#include <xsimd/xsimd.hpp>

#include <cstddef>

namespace nearfield::detail
{
  // Seeds of two registers of doubles are made in one register of floats. Only the parity of the exponent
  // goes through the float, so they hold for every normal double:
  //   x = f 4^k with f in [1/2, 2),   1/sqrt(x) = (1/sqrt(f)) 2^-k,   k = (exponent field >> 1) - 511.
  // The high word of x is (exponent field << 20 | 20 bits of the fraction); 0x3F000004 gives f the exponent
  // -1 and rounds what was cut off.
  inline constexpr int float_of_high_word_mask = 0x00FFFFFF;
  inline constexpr int float_of_high_word_bias = 0x3F000004;
  inline constexpr int exponent_mask = 0x7FF00000;
  // exponent bias of the result, 1023 - 127 + 511, and one less: the Newton step on floats returns
  // y (3 - f y^2) = 2 / sqrt(f)
  inline constexpr int high_word_of_seed_bias = (1023 - 127 + 511 - 1) << 20;

  // The names exist on every instruction set, so that math<pack> can ask which registers have a seed.
  struct no_register
  {};
  void rsqrt_seed(no_register);
  void rsqrt_seed_pair(no_register&, no_register&);
  void sums_of_rows(no_register const*);
  void load_first(no_register);
  void repeat_four(no_register);
  void spread(no_register);
  void add_in_groups(no_register);
  void add_groups(no_register);
  void transpose_four(no_register);
  void lookup(no_register);

  // load_first(p, n, rest): lanes [0, n) from p, the others from rest. A masked load reads nothing past p + n
  // and does not fault there, so any page may follow. n may be negative or more than there are lanes.

  // Registers as groups of four lanes, for boxes of a few points: each group holds a target, and all hold the same
  // four sources.
  //   repeat_four(p, n, rest, y): the first n of p, at most four, and rest in place of the others, in every group
  //   spread(p, at, y): p[at[g]] in all lanes of group g
  //   add_in_groups(y, to): to[g] = sum of group g
  //   add_groups(y, to): to[l] = sum of the lanes l of all groups

  // transpose_four(p, stride, to, j): four values of each of four records, the first at p and the others `stride` values
  // apart, to to[0] + j to to[3] + j.

  // lookup(table, i): table[i] for the whole numbers in the lanes of i.

  // keep_nonzero(x, y): y where x != 0, else 0, for x that is not negative. Such an x is zero exactly if its
  // bits are; an integer comparison of them uses no multiplier.

#if defined(__SSE2__)
  NEARFIELD_FN __m128 keep_nonzero(__m128 x, __m128 y)
  {
    return _mm_castsi128_ps(_mm_andnot_si128(
        _mm_cmpeq_epi32(_mm_castps_si128(x), _mm_setzero_si128()), _mm_castps_si128(y)));
  }
  NEARFIELD_FN __m128d keep_nonzero(__m128d x, __m128d y)
  {
    return _mm_andnot_pd(_mm_cmpeq_pd(x, _mm_setzero_pd()), y); // no 64-bit compare in SSE2
  }

  NEARFIELD_FN void transpose_four(float const* p, std::ptrdiff_t stride, float* const* to,
                                   unsigned j)
  {
    __m128 row[4];
    NEARFIELD_UNROLL
    for (int i = 0; i < 4; ++i) row[i] = _mm_loadu_ps(p + i * stride);
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    NEARFIELD_UNROLL
    for (int c = 0; c < 4; ++c) _mm_storeu_ps(to[c] + j, row[c]);
  }

  NEARFIELD_FN __m128 rsqrt_seed(__m128 x)
  {
    return _mm_rsqrt_ps(x);
  }

  /// 1 / sqrt(x) of two registers, to 2^-21
  NEARFIELD_FN void rsqrt_seed_pair(__m128d& a, __m128d& b)
  {
    __m128i const high = _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), 0xDD));
    __m128 const f = _mm_castsi128_ps(_mm_add_epi32(
        _mm_and_si128(_mm_slli_epi32(high, 3), _mm_set1_epi32(float_of_high_word_mask)),
        _mm_set1_epi32(float_of_high_word_bias)));
    __m128 y = _mm_rsqrt_ps(f);
    y = _mm_mul_ps(y, _mm_sub_ps(_mm_set1_ps(3.0F), _mm_mul_ps(_mm_mul_ps(f, y), y)));
    __m128i const bits = _mm_castps_si128(y);
    __m128i const halved_exponent =
        _mm_and_si128(_mm_srli_epi32(high, 1), _mm_set1_epi32(exponent_mask));
    __m128i const result_high = _mm_sub_epi32(
        _mm_add_epi32(_mm_srli_epi32(bits, 3), _mm_set1_epi32(high_word_of_seed_bias)),
        halved_exponent);
    __m128i const result_low = _mm_slli_epi32(bits, 29);
    a = _mm_castsi128_pd(_mm_unpacklo_epi32(result_low, result_high));
    b = _mm_castsi128_pd(_mm_unpackhi_epi32(result_low, result_high));
  }
#endif

#if defined(__AVX__)
  NEARFIELD_FN void transpose_four(double const* p, std::ptrdiff_t stride, double* const* to,
                                   unsigned j)
  {
    __m256d row[4], half[4];
    NEARFIELD_UNROLL
    for (int i = 0; i < 4; ++i) row[i] = _mm256_loadu_pd(p + i * stride);
    NEARFIELD_UNROLL
    for (int i = 0; i < 4; i += 2)
    {
      half[i] = _mm256_unpacklo_pd(row[i], row[i + 1]);
      half[i + 1] = _mm256_unpackhi_pd(row[i], row[i + 1]);
    }
    NEARFIELD_UNROLL
    for (int c = 0; c < 2; ++c)
    {
      _mm256_storeu_pd(to[c] + j, _mm256_permute2f128_pd(half[c], half[c + 2], 0x20));
      _mm256_storeu_pd(to[c + 2] + j, _mm256_permute2f128_pd(half[c], half[c + 2], 0x31));
    }
  }

  NEARFIELD_FN __m256 rsqrt_seed(__m256 x)
  {
    return _mm256_rsqrt_ps(x);
  }
#endif

#if defined(__AVX2__) && defined(__FMA__)
  NEARFIELD_FN __m256 lookup(float const* table, __m256 i)
  {
    // a gather without a mask starts from an undefined register, of which g++ warns
    __m256 const zero = _mm256_setzero_ps(), all = _mm256_cmp_ps(zero, zero, _CMP_EQ_OQ);
    return _mm256_mask_i32gather_ps(zero, table, _mm256_cvttps_epi32(i), all, sizeof(float));
  }
  NEARFIELD_FN __m256d lookup(double const* table, __m256d i)
  {
    __m256d const zero = _mm256_setzero_pd(), all = _mm256_cmp_pd(zero, zero, _CMP_EQ_OQ);
    return _mm256_mask_i32gather_pd(zero, table, _mm256_cvttpd_epi32(i), all, sizeof(double));
  }

  NEARFIELD_FN __m256 keep_nonzero(__m256 x, __m256 y)
  {
    return _mm256_castsi256_ps(
        _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_castps_si256(x), _mm256_setzero_si256()),
                            _mm256_castps_si256(y)));
  }
  NEARFIELD_FN __m256d keep_nonzero(__m256d x, __m256d y)
  {
    return _mm256_castsi256_pd(
        _mm256_andnot_si256(_mm256_cmpeq_epi64(_mm256_castpd_si256(x), _mm256_setzero_si256()),
                            _mm256_castpd_si256(y)));
  }

  NEARFIELD_FN __m256 load_first(float const* p, int n, __m256 rest)
  {
    __m256i const mask =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_blendv_ps(rest, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
  }
  NEARFIELD_FN __m256d load_first(double const* p, int n, __m256d rest)
  {
    __m256i const mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    return _mm256_blendv_pd(rest, _mm256_maskload_pd(p, mask), _mm256_castsi256_pd(mask));
  }

  NEARFIELD_FN __m128 first_of_four(float const* p, int n, float rest)
  {
    __m128i const mask = _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3));
    return _mm_blendv_ps(_mm_set1_ps(rest), _mm_maskload_ps(p, mask), _mm_castsi128_ps(mask));
  }
  NEARFIELD_FN void repeat_four(float const* p, int n, float rest, __m256& y)
  {
    __m128 const four = first_of_four(p, n, rest);
    y = _mm256_insertf128_ps(_mm256_castps128_ps256(four), four, 1);
  }
  NEARFIELD_FN void repeat_four(double const* p, int n, double rest, __m256d& y)
  {
    y = load_first(p, n, _mm256_set1_pd(rest));
  }
  NEARFIELD_FN void spread(float const* p, unsigned const* at, __m256& y)
  {
    y = _mm256_blend_ps(_mm256_set1_ps(p[at[0]]), _mm256_set1_ps(p[at[1]]), 0xF0);
  }
  NEARFIELD_FN void spread(double const* p, unsigned const* at, __m256d& y)
  {
    y = _mm256_set1_pd(p[at[0]]);
  }
  NEARFIELD_FN void add_in_groups(__m256 y, float* to)
  {
    y = _mm256_add_ps(y, _mm256_permute_ps(y, 0x4E));
    y = _mm256_add_ps(y, _mm256_permute_ps(y, 0xB1));
    to[0] = _mm256_cvtss_f32(y);
    to[1] = _mm_cvtss_f32(_mm256_extractf128_ps(y, 1));
  }
  NEARFIELD_FN void add_in_groups(__m256d y, double* to)
  {
    __m128d const half = _mm_add_pd(_mm256_castpd256_pd128(y), _mm256_extractf128_pd(y, 1));
    to[0] = _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }
  NEARFIELD_FN void add_groups(__m256 y, float* to)
  {
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1)));
  }
  NEARFIELD_FN void add_groups(__m256d y, double* to)
  {
    _mm256_storeu_pd(to, y);
  }

  /// 1 / sqrt(x) of two registers, to 2^-21
  NEARFIELD_FN void rsqrt_seed_pair(__m256d& a, __m256d& b)
  {
    __m256i const high =
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0xDD));
    __m256 const f = _mm256_castsi256_ps(_mm256_add_epi32(
        _mm256_and_si256(_mm256_slli_epi32(high, 3), _mm256_set1_epi32(float_of_high_word_mask)),
        _mm256_set1_epi32(float_of_high_word_bias)));
    __m256 y = _mm256_rsqrt_ps(f);
    y = _mm256_mul_ps(y, _mm256_fnmadd_ps(_mm256_mul_ps(f, y), y, _mm256_set1_ps(3.0F)));
    __m256i const bits = _mm256_castps_si256(y);
    __m256i const halved_exponent =
        _mm256_and_si256(_mm256_srli_epi32(high, 1), _mm256_set1_epi32(exponent_mask));
    __m256i const result_high = _mm256_sub_epi32(
        _mm256_add_epi32(_mm256_srli_epi32(bits, 3), _mm256_set1_epi32(high_word_of_seed_bias)),
        halved_exponent);
    __m256i const result_low = _mm256_slli_epi32(bits, 29);
    a = _mm256_castsi256_pd(_mm256_unpacklo_epi32(result_low, result_high));
    b = _mm256_castsi256_pd(_mm256_unpackhi_epi32(result_low, result_high));
  }
#endif

#if defined(__AVX__) && !(defined(__AVX2__) && defined(__FMA__))
  NEARFIELD_FN __m256 keep_nonzero(__m256 x, __m256 y)
  {
    return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ), y);
  }
  NEARFIELD_FN __m256d keep_nonzero(__m256d x, __m256d y)
  {
    return _mm256_andnot_pd(_mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_EQ_OQ), y);
  }
#endif

#if defined(__AVX512F__)
  NEARFIELD_FN __m512 lookup(float const* table, __m512 i)
  {
    return _mm512_i32gather_ps(_mm512_cvttps_epi32(i), table, sizeof(float));
  }
  NEARFIELD_FN __m512d lookup(double const* table, __m512d i)
  {
    return _mm512_i32gather_pd(_mm512_cvttpd_epi32(i), table, sizeof(double));
  }

  NEARFIELD_FN __m512 keep_nonzero(__m512 x, __m512 y)
  {
    __m512i const bits = _mm512_castps_si512(x);
    return _mm512_maskz_mov_ps(_mm512_test_epi32_mask(bits, bits), y);
  }
  NEARFIELD_FN __m512d keep_nonzero(__m512d x, __m512d y)
  {
    __m512i const bits = _mm512_castpd_si512(x);
    return _mm512_maskz_mov_pd(_mm512_test_epi64_mask(bits, bits), y);
  }

  /// (a_0 + a_2, b_0 + b_2, a_1 + a_3, b_1 + b_3) in each quarter
  NEARFIELD_FN __m512 fold_quarters(__m512 a, __m512 b)
  {
    return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  }
  /// (a_0 + a_1, a_2 + a_3, b_0 + b_1, b_2 + b_3), by quarters
  NEARFIELD_FN __m512 join_quarters(__m512 a, __m512 b)
  {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
  }
  /// The sums of 16 registers.
  NEARFIELD_FN __m512 sums_of_rows(__m512 const* rows)
  {
    __m512 four[4];
    NEARFIELD_UNROLL
    for (int f = 0; f < 4; ++f)
    {
      __m512d const ab = _mm512_castps_pd(fold_quarters(rows[4 * f], rows[4 * f + 1]));
      __m512d const cd = _mm512_castps_pd(fold_quarters(rows[4 * f + 2], rows[4 * f + 3]));
      four[f] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                              _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
    }
    return join_quarters(join_quarters(four[0], four[1]), join_quarters(four[2], four[3]));
  }
  NEARFIELD_FN __m512 load_first(float const* p, int n, __m512 rest)
  {
    __m512i const lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_mask_loadu_ps(rest, _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(n), lanes), p);
  }
  NEARFIELD_FN __m512d load_first(double const* p, int n, __m512d rest)
  {
    __m512i const lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_mask_loadu_pd(rest, _mm512_cmpgt_epi64_mask(_mm512_set1_epi64(n), lanes), p);
  }

  NEARFIELD_FN void repeat_four(float const* p, int n, float rest, __m512& y)
  {
    y = _mm512_broadcast_f32x4(first_of_four(p, n, rest));
  }
  NEARFIELD_FN void repeat_four(double const* p, int n, double rest, __m512d& y)
  {
    y = _mm512_broadcast_f64x4(load_first(p, n, _mm256_set1_pd(rest)));
  }
  NEARFIELD_FN void spread(float const* p, unsigned const* at, __m512& y)
  {
    y = _mm512_set1_ps(p[at[0]]);
    y = _mm512_mask_broadcastss_ps(y, 0x00F0, _mm_load_ss(p + at[1]));
    y = _mm512_mask_broadcastss_ps(y, 0x0F00, _mm_load_ss(p + at[2]));
    y = _mm512_mask_broadcastss_ps(y, 0xF000, _mm_load_ss(p + at[3]));
  }
  NEARFIELD_FN void spread(double const* p, unsigned const* at, __m512d& y)
  {
    y = _mm512_mask_broadcastsd_pd(_mm512_set1_pd(p[at[0]]), 0xF0, _mm_load_sd(p + at[1]));
  }
  NEARFIELD_FN void add_in_groups(__m512 y, float* to)
  {
    y = _mm512_add_ps(y, _mm512_permute_ps(y, 0x4E));
    y = _mm512_add_ps(y, _mm512_permute_ps(y, 0xB1));
    to[0] = _mm512_cvtss_f32(y);
    to[1] = _mm_cvtss_f32(_mm512_extractf32x4_ps(y, 1));
    to[2] = _mm_cvtss_f32(_mm512_extractf32x4_ps(y, 2));
    to[3] = _mm_cvtss_f32(_mm512_extractf32x4_ps(y, 3));
  }
  NEARFIELD_FN void add_in_groups(__m512d y, double* to)
  {
    y = _mm512_add_pd(y, _mm512_permutex_pd(y, 0x4E));
    y = _mm512_add_pd(y, _mm512_permute_pd(y, 0x55));
    to[0] = _mm512_cvtsd_f64(y);
    to[1] = _mm256_cvtsd_f64(_mm512_extractf64x4_pd(y, 1));
  }
  NEARFIELD_FN void add_groups(__m512 y, float* to)
  {
    __m256d const high = _mm512_extractf64x4_pd(_mm512_castps_pd(y), 1);
    add_groups(_mm256_add_ps(_mm512_castps512_ps256(y), _mm256_castpd_ps(high)), to);
  }
  NEARFIELD_FN void add_groups(__m512d y, double* to)
  {
    _mm256_storeu_pd(to, _mm256_add_pd(_mm512_castpd512_pd256(y), _mm512_extractf64x4_pd(y, 1)));
  }

  // 14 bits, over the whole range of both precisions
  NEARFIELD_FN __m512 rsqrt_seed(__m512 x)
  {
    return _mm512_rsqrt14_ps(x);
  }
  NEARFIELD_FN __m512d rsqrt_seed(__m512d x)
  {
    return _mm512_rsqrt14_pd(x);
  }
#endif

#if defined(__aarch64__)
  NEARFIELD_FN float32x4_t keep_nonzero(float32x4_t x, float32x4_t y)
  {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(y), vceqzq_f32(x)));
  }
  NEARFIELD_FN float64x2_t keep_nonzero(float64x2_t x, float64x2_t y)
  {
    return vreinterpretq_f64_u64(vbicq_u64(vreinterpretq_u64_f64(y), vceqzq_f64(x)));
  }

  // The estimate has 8 bits; one Newton step with its companion instruction gives 16.
  NEARFIELD_FN float32x4_t rsqrt_seed(float32x4_t x)
  {
    float32x4_t const y = vrsqrteq_f32(x);
    return vmulq_f32(y, vrsqrtsq_f32(vmulq_f32(x, y), y));
  }
  NEARFIELD_FN float64x2_t rsqrt_seed(float64x2_t x)
  {
    float64x2_t const y = vrsqrteq_f64(x);
    return vmulq_f64(y, vrsqrtsq_f64(vmulq_f64(x, y), y));
  }
#endif
}
