#include "classic.hpp"

#include <nearfield/cuda/device.hpp>

namespace baseline
{
  namespace
  {
    using nearfield::index_type;
    using nearfield::interaction_list;

    template <class T>
    struct alignas(4 * sizeof(T)) source
    {
      T x, y, z, q;
    };

    template <class T, int NOut>
    struct arrays
    {
      T const *x, *y, *z, *q;
      T* out[NOut];

      arrays(T const* const* positions, T const* charges, T* const* outputs)
          : x(positions[0]), y(positions[1]), z(positions[2]), q(charges)
      {
        for (int o = 0; o < NOut; ++o) out[o] = outputs[o];
      }

      __device__ source<T> operator[](index_type i) const { return {x[i], y[i], z[i], q[i]}; }
    };

    /// Adds `count` sources to the target's sum; if Indexed, without source `self`.
    template <bool Indexed, class T, int NOut>
    __device__ void add_tile(source<T> const& target, source<T> const* tile, index_type count,
                             index_type self, T (&sum)[NOut])
    {
#pragma unroll 8
      for (index_type j = 0; j < count; ++j)
      {
        source<T> const s = tile[j];
        T const x = target.x - s.x, y = target.y - s.y, z = target.z - s.z;
        T inv_r = T(1) / sqrt(x * x + y * y + z * z);
        if (Indexed && j == self) inv_r = 0;
        T const value = inv_r * s.q;
        sum[0] += value;
        if constexpr (NOut == 4)
        {
          T const slope = value * inv_r * inv_r;
          sum[1] -= slope * x;
          sum[2] -= slope * y;
          sum[3] -= slope * z;
        }
      }
    }

    /// Adds the sources [begin, end) to the sums of the block's targets, tile by tile.
    template <bool Indexed, class T, int NOut>
    __device__ void add_range(arrays<T, NOut> const& points, source<T> const& target, index_type i,
                              index_type begin, index_type end, source<T>* tile, T (&sum)[NOut])
    {
      for (; begin < end; begin += blockDim.x)
      {
        index_type const count = min(blockDim.x, end - begin);
        __syncthreads();
        if (threadIdx.x < count) tile[threadIdx.x] = points[begin + threadIdx.x];
        __syncthreads();
        add_tile<Indexed>(target, tile, count, i - begin, sum);
      }
    }

    template <class T, int NOut>
    __device__ void store(arrays<T, NOut> const& points, index_type i, T const (&sum)[NOut])
    {
      for (int o = 0; o < NOut; ++o) points.out[o][i] = sum[o];
    }

    constexpr int box_threads = 256;

    template <class T, int NOut>
    __global__ void __launch_bounds__(box_threads)
        box_kernel(arrays<T, NOut> const points, index_type const n)
    {
      __shared__ source<T> tile[box_threads];
      index_type const i = blockIdx.x * blockDim.x + threadIdx.x;
      source<T> const target = points[min(i, n - 1)];
      T sum[NOut]{};
      add_range<true>(points, target, i, 0, n, tile, sum);
      if (i < n) store(points, i, sum);
    }

    template <class T, int NOut>
    __global__ void leaves_kernel(arrays<T, NOut> const points, leaf_list const list)
    {
      extern __shared__ __align__(32) unsigned char memory[];
      auto* const tile = reinterpret_cast<source<T>*>(memory);
      index_type const leaf = blockIdx.x;
      index_type const end = list.leaf_offsets[leaf + 1];
      for (index_type first = list.leaf_offsets[leaf]; first < end; first += blockDim.x)
      {
        index_type const i = first + threadIdx.x;
        source<T> const target = points[min(i, end - 1)];
        T sum[NOut]{};
        interaction_list::range const own = list.own[leaf];
        add_range<true>(points, target, i, own.begin, own.end, tile, sum);
        for (index_type r = list.range_offsets[leaf]; r < list.range_offsets[leaf + 1]; ++r)
          add_range<false>(points, target, i, list.ranges[r].begin, list.ranges[r].end, tile, sum);
        if (i < end) store(points, i, sum);
      }
    }
  }

  template <class T, int NOut>
  void classic_box(index_type n, T const* const* x, T const* q, T* const* out)
  {
    box_kernel<<<(n + box_threads - 1) / box_threads, box_threads>>>(arrays<T, NOut>(x, q, out), n);
    nearfield::check_cuda(cudaGetLastError(), "classic_box");
  }

  template <class T, int NOut>
  void classic_leaves(leaf_list const& list, T const* const* x, T const* q, T* const* out,
                      int threads)
  {
    leaves_kernel<<<list.n_leaves, threads, threads * sizeof(source<T>)>>>(
        arrays<T, NOut>(x, q, out), list);
    nearfield::check_cuda(cudaGetLastError(), "classic_leaves");
  }

#define INSTANTIATE(T, NOut)                                                                       \
  template void classic_box<T, NOut>(index_type, T const* const*, T const*, T* const*);            \
  template void classic_leaves<T, NOut>(leaf_list const&, T const* const*, T const*, T* const*,    \
                                        int);
  INSTANTIATE(float, 1)
  INSTANTIATE(float, 4)
  INSTANTIATE(double, 1)
  INSTANTIATE(double, 4)
#undef INSTANTIATE
}
