#pragma once

#include "candidates.cuh"

namespace nearfield::detail
{
  /// Transposes 32 x 32 bits: bit r of lane c becomes bit c of lane r.
  __device__ inline uint32_t transposed(uint32_t x, int lane)
  {
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
    {
      uint32_t const y = __shfl_xor_sync(all_lanes, x, s);
      x = lane & s ? (y >> s & mask) | (x & ~mask) : (x & mask) | (y << s & ~mask);
      mask ^= mask << s / 2;
    }
    return x;
  }

  /// |r|^2 / 2 - 1/2 from a point (-x, |x|^2 / 2 - 1/2) and a candidate with its |x|^2 / 2.
  __device__ inline float half_gap(float4 point, float4 candidate, float half_square)
  {
    return fmaf(point.x, candidate.x,
                fmaf(point.y, candidate.y, fmaf(point.z, candidate.z, half_square + point.w)));
  }
  __device__ inline float half_square(float x, float y, float z)
  {
    return 0.5f * fmaf(x, x, fmaf(y, y, z * z));
  }

  /// Sets bit i of masks[q] if point i is near the lane's candidate of word q. Returns whether any
  /// gap is ambiguous; NaN is.
  template <int N>
  __device__ __forceinline__ bool test_words(float4 const* candidates, float4 const* points, int n,
                                             float ambiguous, uint32_t (&masks)[4])
  {
    float4 c[N];
#pragma unroll
    for (int q = 0; q < N; ++q)
    {
      c[q] = candidates[32 * q];
      c[q].w = half_square(c[q].x, c[q].y, c[q].z);
      masks[q] = 0;
    }
    bool any = false;
#pragma unroll 4
    for (int i = n - 1; i >= 0; --i)
    {
      float4 const p = points[i];
#pragma unroll
      for (int q = 0; q < N; ++q)
      {
        float const gap = half_gap(p, c[q], c[q].w);
        masks[q] = __funnelshift_l(__float_as_uint(gap), masks[q], 1); // the sign
        any |= !(fabsf(gap) > ambiguous);
      }
    }
    return any;
  }

  /// The mask with ambiguous pairs decided by the definition and, if not all pairs count, with those inside too.
  template <class T, int Dim>
  __device__ __noinline__ uint32_t exact_word(pair_definition<T, Dim> const& pair,
                                              pair_system<T, Dim> system, float4 candidate,
                                              uint32_t shift, float4 const* points,
                                              uint32_t const* indices, int n, float ambiguous,
                                              uint32_t mask)
  {
    uint32_t const j = __float_as_uint(candidate.w);
    float const square = half_square(candidate.x, candidate.y, candidate.z);
    for (int i = 0; i < n; ++i)
    {
      float const gap = half_gap(points[i], candidate, square);
      if (gap > ambiguous || (gap < -ambiguous && !pair.rules.any)) continue;
      mask = pair.is_in(system, indices[i], j, shift) ? mask | 1u << i : mask & ~(1u << i);
    }
    return mask;
  }

  /// Clears what an item must not meet among its own points: in a full list the point itself, in a half list
  /// what own_slots says.
  __device__ inline uint32_t without_own(uint32_t mask, int slot, own_slots const& own, bool half)
  {
    if (slot < own.first) return mask;
    int const d = slot + own.offset;
    if (d >= 32) return mask;
    return half ? mask & ((1u << d) - 1) : mask & ~(1u << d);
  }
}
