#pragma once

#include "handwritten.hpp"

#include <nearfield/simd/registers.hpp>

#include <xsimd/xsimd.hpp>

namespace baseline
{
  /// 2 / sqrt(x), or 0 if x = 0
  template <class Arch>
  NEARFIELD_FN xsimd::batch<float, Arch> twice_rsqrt(xsimd::batch<float, Arch> x)
  {
    using batch = xsimd::batch<float, Arch>;
    using reg = typename batch::register_type;
    batch const y(nearfield::detail::rsqrt_seed(static_cast<reg>(x)));
    batch const root = y * xsimd::fnma(x * y, y, batch(3.0F));
    return batch(nearfield::detail::keep_nonzero(static_cast<reg>(x), static_cast<reg>(root)));
  }

  template <class Batch>
  NEARFIELD_FN float sum_of(Batch const& v)
  {
    float lanes[Batch::size], sum = 0;
    v.store_unaligned(lanes);
    for (float const lane : lanes) sum += lane;
    return sum;
  }

  template <class Arch>
  void val_grad_by_hand(std::size_t n, float const* const* x, float const* const* y,
                        float const* const* q, float* const* out)
  {
    using batch = xsimd::batch<float, Arch>;
    constexpr int targets = 2;
    for (std::size_t i = 0; i < n; i += targets)
    {
      batch tx[targets], ty[targets], tz[targets], v[targets], gx[targets], gy[targets],
          gz[targets];
      for (int t = 0; t < targets; ++t)
      {
        tx[t] = batch(x[0][i + t]);
        ty[t] = batch(x[1][i + t]);
        tz[t] = batch(x[2][i + t]);
        v[t] = gx[t] = gy[t] = gz[t] = batch(0.0F);
      }
      for (std::size_t j = 0; j < n; j += batch::size)
      {
        batch const sx = batch::load_unaligned(y[0] + j);
        batch const sy = batch::load_unaligned(y[1] + j);
        batch const sz = batch::load_unaligned(y[2] + j);
        batch const charge = batch::load_unaligned(q[0] + j);
        NEARFIELD_UNROLL
        for (int t = 0; t < targets; ++t)
        {
          batch const dx = tx[t] - sx, dy = ty[t] - sy, dz = tz[t] - sz;
          batch const r2 = xsimd::fma(dz, dz, xsimd::fma(dy, dy, dx * dx));
          batch const root = twice_rsqrt<Arch>(r2);
          batch const value = charge * root;
          batch const slope = value * (root * root);
          v[t] = v[t] + value;
          gx[t] = xsimd::fnma(slope, dx, gx[t]);
          gy[t] = xsimd::fnma(slope, dy, gy[t]);
          gz[t] = xsimd::fnma(slope, dz, gz[t]);
        }
      }
      for (int t = 0; t < targets; ++t)
      {
        out[0][i + t] += 0.5F * sum_of(v[t]);
        out[1][i + t] += 0.125F * sum_of(gx[t]);
        out[2][i + t] += 0.125F * sum_of(gy[t]);
        out[3][i + t] += 0.125F * sum_of(gz[t]);
      }
    }
  }

  template <class Arch>
  void dipole_by_hand(std::size_t n, float const* const* x, float const* const* y,
                      float const* const* q, float* const* out)
  {
    using batch = xsimd::batch<float, Arch>;
    constexpr int targets = 2;
    for (std::size_t i = 0; i < n; i += targets)
    {
      batch tx[targets], ty[targets], tz[targets], fx[targets], fy[targets], fz[targets];
      for (int t = 0; t < targets; ++t)
      {
        tx[t] = batch(x[0][i + t]);
        ty[t] = batch(x[1][i + t]);
        tz[t] = batch(x[2][i + t]);
        fx[t] = fy[t] = fz[t] = batch(0.0F);
      }
      for (std::size_t j = 0; j < n; j += batch::size)
      {
        batch const sx = batch::load_unaligned(y[0] + j);
        batch const sy = batch::load_unaligned(y[1] + j);
        batch const sz = batch::load_unaligned(y[2] + j);
        batch const qx = batch::load_unaligned(q[0] + j);
        batch const qy = batch::load_unaligned(q[1] + j);
        batch const qz = batch::load_unaligned(q[2] + j);
        NEARFIELD_UNROLL
        for (int t = 0; t < targets; ++t)
        {
          batch const dx = tx[t] - sx, dy = ty[t] - sy, dz = tz[t] - sz;
          batch const r2 = xsimd::fma(dz, dz, xsimd::fma(dy, dy, dx * dx));
          batch const root = batch(0.5F) * twice_rsqrt<Arch>(r2);
          batch const root2 = root * root, root3 = root2 * root;
          batch const dot = xsimd::fma(dz, qz, xsimd::fma(dy, qy, dx * qx));
          batch const along = batch(3.0F) * root2 * dot;
          fx[t] = xsimd::fma(root3, xsimd::fms(along, dx, qx), fx[t]);
          fy[t] = xsimd::fma(root3, xsimd::fms(along, dy, qy), fy[t]);
          fz[t] = xsimd::fma(root3, xsimd::fms(along, dz, qz), fz[t]);
        }
      }
      for (int t = 0; t < targets; ++t)
      {
        out[0][i + t] += sum_of(fx[t]);
        out[1][i + t] += sum_of(fy[t]);
        out[2][i + t] += sum_of(fz[t]);
      }
    }
  }

  template <class Arch>
  constexpr handwritten_table make_handwritten_table()
  {
    return {&val_grad_by_hand<Arch>, &dipole_by_hand<Arch>};
  }
}
