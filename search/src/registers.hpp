#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>

#include <xsimd/xsimd.hpp>

#include <cstdint>

/// \file
/// What a search needs of a register beside xsimd's arithmetic: masks as bits, counts of lanes, and *compress*, which
/// stores the lanes of a mask side by side. compress writes a whole register, so there must be room for it.
///
/// What takes raw registers is forced inline, so that it leaves no symbol that two instruction sets could share.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  // Compress for two or four lanes without a shuffle by table: each lane is stored at the next free place, which
  // advances if the lane is in the mask.
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

  // For each register: bits_of() a comparison, one for each lane; add_true(), which counts it in 32-bit words, for
  // doubles in every other one; and sum_words().

#if defined(__SSE2__)
  NEARFIELD_FN unsigned bits_of(__m128 in)
  {
    return static_cast<unsigned>(_mm_movemask_ps(in));
  }
  NEARFIELD_FN unsigned bits_of(__m128d in)
  {
    return static_cast<unsigned>(_mm_movemask_pd(in));
  }
  NEARFIELD_FN __m128i add_true(__m128i sum, __m128 in)
  {
    return _mm_sub_epi32(sum, _mm_castps_si128(in));
  }
  NEARFIELD_FN __m128i add_true(__m128i sum, __m128d in)
  {
    return _mm_sub_epi64(sum, _mm_castpd_si128(in));
  }
  NEARFIELD_FN index_type sum_words(__m128i sum)
  {
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return static_cast<index_type>(_mm_cvtsi128_si32(sum));
  }
#endif

#if defined(__AVX2__)
  NEARFIELD_FN unsigned bits_of(__m256 in)
  {
    return static_cast<unsigned>(_mm256_movemask_ps(in));
  }
  NEARFIELD_FN unsigned bits_of(__m256d in)
  {
    return static_cast<unsigned>(_mm256_movemask_pd(in));
  }
  NEARFIELD_FN __m256i add_true(__m256i sum, __m256 in)
  {
    return _mm256_sub_epi32(sum, _mm256_castps_si256(in));
  }
  NEARFIELD_FN __m256i add_true(__m256i sum, __m256d in)
  {
    return _mm256_sub_epi64(sum, _mm256_castpd_si256(in));
  }
  NEARFIELD_FN index_type sum_words(__m256i sum)
  {
    return sum_words(_mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
  }

  /// Which lanes a mask takes, side by side: of eight, one byte for each, 2 KiB that stay in L1; of four, the bytes of
  /// 32-bit lanes, and the halves of 64-bit ones.
  struct lanes_of_masks
  {
    std::uint64_t of_eight[256];
    alignas(32) std::uint8_t bytes_of_four[16][16];
    alignas(32) std::uint32_t halves_of_four[16][8];

    constexpr lanes_of_masks() : of_eight{}, bytes_of_four{}, halves_of_four{}
    {
      for (unsigned mask = 0; mask < 256; ++mask)
        for (unsigned l = 0, at = 0; l < 8; ++l)
          if (mask >> l & 1) of_eight[mask] |= std::uint64_t(l) << (8 * at++);
      for (unsigned mask = 0; mask < 16; ++mask)
        for (unsigned l = 0, at = 0; l < 4; ++l)
          if (mask >> l & 1)
          {
            for (unsigned b = 0; b < 4; ++b)
              bytes_of_four[mask][4 * at + b] = static_cast<std::uint8_t>(4 * l + b);
            halves_of_four[mask][2 * at] = 2 * l;
            halves_of_four[mask][2 * at + 1] = 2 * l + 1;
            ++at;
          }
    }
  };
  inline constexpr lanes_of_masks taken{};

  NEARFIELD_FN void compress_register(__m256i from, unsigned mask, void* to)
  {
    __m256i const order = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<__m128i const*>(taken.of_eight + mask)));
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(from, order));
  }
  NEARFIELD_FN void compress_register(__m256 from, unsigned mask, float* to)
  {
    compress_register(_mm256_castps_si256(from), mask, static_cast<void*>(to));
  }
  NEARFIELD_FN void compress_register(__m256d from, unsigned mask, double* to)
  {
    __m256i const order =
        _mm256_load_si256(reinterpret_cast<__m256i const*>(taken.halves_of_four[mask]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_permutevar8x32_epi32(_mm256_castpd_si256(from), order));
  }
#endif

#if defined(__AVX512F__)
  NEARFIELD_FN unsigned bits_of(__mmask16 in)
  {
    return in;
  }
  NEARFIELD_FN unsigned bits_of(__mmask8 in)
  {
    return in;
  }
  NEARFIELD_FN __m512i add_true(__m512i sum, __mmask16 in)
  {
    return _mm512_mask_add_epi32(sum, in, sum, _mm512_set1_epi32(1));
  }
  NEARFIELD_FN __m512i add_true(__m512i sum, __mmask8 in)
  {
    return _mm512_mask_add_epi64(sum, in, sum, _mm512_set1_epi64(1));
  }
  NEARFIELD_FN index_type sum_words(__m512i sum)
  {
    return static_cast<index_type>(_mm512_reduce_add_epi32(sum));
  }

  // Compress to a register, then store: a compressing store is microcode on Zen 4 and 5.
  NEARFIELD_FN void compress_register(__m512i from, unsigned mask, void* to)
  {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), from));
  }
  NEARFIELD_FN void compress_register(__m512 from, unsigned mask, float* to)
  {
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(static_cast<__mmask16>(mask), from));
  }
  NEARFIELD_FN void compress_register(__m512d from, unsigned mask, double* to)
  {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(static_cast<__mmask8>(mask), from));
  }
#endif

#if defined(__aarch64__)
  NEARFIELD_FN unsigned bits_of(uint32x4_t in)
  {
    return vaddvq_u32(vandq_u32(in, uint32x4_t{1, 2, 4, 8}));
  }
  NEARFIELD_FN unsigned bits_of(uint64x2_t in)
  {
    return static_cast<unsigned>(vaddvq_u64(vandq_u64(in, uint64x2_t{1, 2})));
  }
  NEARFIELD_FN uint32x4_t add_true(uint32x4_t sum, uint32x4_t in)
  {
    return vsubq_u32(sum, in);
  }
  NEARFIELD_FN uint32x4_t add_true(uint32x4_t sum, uint64x2_t in)
  {
    return vreinterpretq_u32_u64(vsubq_u64(vreinterpretq_u64_u32(sum), in));
  }
  NEARFIELD_FN index_type sum_words(uint32x4_t sum)
  {
    return vaddvq_u32(sum);
  }
#endif

  /// Compresses the indices of Width coordinates.
  template <int Width>
  NEARFIELD_FN void compress_indices(index_type const* from, unsigned mask, index_type* to)
  {
#if defined(__AVX512VL__)
    if constexpr (Width == 16)
      compress_register(_mm512_loadu_si512(from), mask, to);
    else if constexpr (Width == 8)
    {
      __m256i const all = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                          _mm256_maskz_compress_epi32(static_cast<__mmask8>(mask), all));
    }
    else
#elif defined(__AVX2__)
    if constexpr (Width == 8)
      compress_register(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from)), mask, to);
    else if constexpr (Width == 4)
    {
      __m128i const all = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
      __m128i const order =
          _mm_load_si128(reinterpret_cast<__m128i const*>(taken.bytes_of_four[mask]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(all, order));
    }
    else
#endif
      store_each<Width>(from, mask, to);
  }
}
