#pragma once

#include "../keys.hpp"
#include "launch.cuh"
#include "points.cuh"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nearfield::detail
{
  /// The bounding box of a set of points, as numbers that atomicMax orders, and the first invalid point. All
  /// zero before the first block and again after the last one, but that a kernel before may have set `bad` and `any_far`.
  template <int Dim>
  struct device_bounds
  {
    /// ordered_bits(x) and ordered_bits(-x)
    unsigned long long upper[Dim], lower[Dim];
    /// 2^32 - 1 - i for the first invalid point i; 0 if there is none
    std::uint32_t bad;
    /// some point is many boxes away (counters_of_points)
    std::uint32_t any_far;
    std::uint32_t blocks_done;
  };

  /// Bounds of coordinates; invalid ones are not finite.
  template <class T, int Dim>
  struct coordinates_of
  {
    using value_type = T;
    static constexpr int n = Dim;
    device_points<T, Dim> points;

    __device__ std::array<T, Dim> operator()(std::uint32_t i) const { return points.at(i); }
  };

  /// Few blocks per multiprocessor, since their atomics wait for each other.
  inline constexpr int bounds_threads = 1024;
  inline constexpr unsigned bounds_blocks = 2;

  /// The last block writes the result to *to_host, which is host or device memory, blocks_done last.
  template <class Values>
  __global__ void __launch_bounds__(bounds_threads)
      find_bounds(__grid_constant__ Values const values, device_bounds<Values::n>* bounds,
                  device_bounds<Values::n>* to_host)
  {
    using T = typename Values::value_type;
    constexpr int Dim = Values::n;
    T const infinity = std::numeric_limits<T>::infinity();
    T low[Dim], high[Dim];
    for (int a = 0; a < Dim; ++a)
    {
      low[a] = infinity;
      high[a] = -infinity;
    }
    std::uint32_t bad = 0;
    std::uint32_t const stride = gridDim.x * bounds_threads;
    for (std::uint32_t i = blockIdx.x * bounds_threads + threadIdx.x; i < values.points.n;
         i += stride)
    {
      std::array<T, Dim> const at = values(i);
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        T const x = at[a];
        if (!(fabs(x) < infinity)) bad = max(bad, ~i);
        low[a] = x < low[a] ? x : low[a];
        high[a] = x > high[a] ? x : high[a];
      }
    }
    __shared__ T partial[2 * Dim][bounds_threads / 32];
    int const lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int a = 0; a < Dim; ++a)
    {
      for (int s = 16; s > 0; s /= 2)
      {
        T const l = __shfl_xor_sync(~0u, low[a], s), h = __shfl_xor_sync(~0u, high[a], s);
        low[a] = l < low[a] ? l : low[a];
        high[a] = h > high[a] ? h : high[a];
      }
      if (lane == 0)
      {
        partial[a][warp] = low[a];
        partial[Dim + a][warp] = high[a];
      }
    }
    if (bad != 0) atomicMax(&bounds->bad, bad);
    __syncthreads();
    if (threadIdx.x < Dim)
    {
      int const a = threadIdx.x;
      T l = partial[a][0], h = partial[Dim + a][0];
      for (int w = 1; w < bounds_threads / 32; ++w)
      {
        l = partial[a][w] < l ? partial[a][w] : l;
        h = partial[Dim + a][w] > h ? partial[Dim + a][w] : h;
      }
      atomicMax(&bounds->lower[a], ordered_bits(-static_cast<double>(l)));
      atomicMax(&bounds->upper[a], ordered_bits(static_cast<double>(h)));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&bounds->blocks_done, 1) != gridDim.x - 1) return;
    for (int a = 0; a < Dim; ++a)
    {
      to_host->lower[a] = atomicExch(&bounds->lower[a], 0ull);
      to_host->upper[a] = atomicExch(&bounds->upper[a], 0ull);
    }
    to_host->bad = atomicExch(&bounds->bad, 0u);
    to_host->any_far = atomicExch(&bounds->any_far, 0u);
    bounds->blocks_done = 0;
    __threadfence_system();
    *static_cast<std::uint32_t volatile*>(&to_host->blocks_done) = gridDim.x;
  }

  /// Starts find_bounds() for points, at least one.
  template <class Values>
  void start_bounds(Values const& values, device_bounds<Values::n>* bounds,
                    device_bounds<Values::n>* to_host, cuda_stream stream, char const* what)
  {
    unsigned const blocks =
        std::min(blocks_for(values.points.n, bounds_threads), bounds_blocks * multiprocessors());
    find_bounds<<<blocks, bounds_threads, 0, stream>>>(values, bounds, to_host);
    check_cuda(cudaGetLastError(), what);
  }

  template <int Dim>
  device_array<device_bounds<Dim>> cleared_bounds(std::size_t n, cuda_stream stream,
                                                  char const* what)
  {
    device_array<device_bounds<Dim>> bounds(n, stream, what);
    device_clear(bounds.data(), n * sizeof(device_bounds<Dim>), stream);
    return bounds;
  }
}
