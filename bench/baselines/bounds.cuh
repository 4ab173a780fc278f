#pragma once

#include "bounds.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/pair.hpp>

#include <algorithm>

namespace baseline
{
  namespace
  {
    namespace nf = nearfield;

    constexpr int bound_threads = 256, bound_rounds = 256, n_targets = 2;

    /// Sources that fit into registers with what they bring.
    template <class K, class T>
    constexpr int n_sources =
        std::max(2, 256 / int(sizeof(T)) / (nf::detail::point_columns<K> + K::n_in));

    /// Never written, but the compiler cannot know that.
    __device__ double bound_sink;

    template <class T, int N>
    __device__ nf::vec<T, N> filled(T value)
    {
      nf::vec<T, N> result;
      for (int d = 0; d < N; ++d) result[d] = value * T(d + 1);
      return result;
    }

    template <bool Mutual, class K, class T>
    __global__ void __launch_bounds__(bound_threads)
        bound_kernel(K const k, T const start, T const step)
    {
      constexpr int n_x = nf::detail::point_columns<K>;
      nf::vec<T, n_x> x[n_targets], y[n_sources<K, T>];
      nf::vec<T, K::n_in> xq[n_targets], yq[n_sources<K, T>];
      nf::vec<T, K::n_out> xsum[n_targets], ysum[n_sources<K, T>];
      NEARFIELD_UNROLL
      for (int r = 0; r < n_targets; ++r)
      {
        x[r] = filled<T, n_x>(start * T(threadIdx.x + r + 1));
        xq[r] = filled<T, K::n_in>(start + T(r));
        xsum[r] = {};
      }
      NEARFIELD_UNROLL
      for (int s = 0; s < n_sources<K, T>; ++s)
      {
        y[s] = filled<T, n_x>(-start * T(threadIdx.x * 3 + s + 1));
        // parameters of points are positive
        NEARFIELD_UNROLL
        for (int p = K::dim; p < n_x; ++p) y[s][p] = -y[s][p];
        yq[s] = filled<T, K::n_in>(start - T(s));
        ysum[s] = {};
      }
#pragma unroll 1
      for (int i = 0; i < bound_rounds; ++i)
      {
        NEARFIELD_UNROLL
        for (int s = 0; s < n_sources<K, T>; ++s)
        {
          NEARFIELD_UNROLL
          for (int r = 0; r < n_targets; ++r)
            nf::detail::interact<Mutual, false>(k, nf::detail::between<K>(x[r], y[s]), yq[s],
                                                xsum[r], xq[r], ysum[s]);
        }
        // otherwise the compiler would hoist what depends on the points out of the loop
        NEARFIELD_UNROLL
        for (int r = 0; r < n_targets; ++r)
        {
          NEARFIELD_UNROLL
          for (int c = 0; c < n_x; ++c) x[r][c] += step;
        }
      }
      T sum = 0;
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o)
      {
        for (auto const& value : xsum) sum += value[o];
        for (auto const& value : ysum) sum += value[o];
      }
      if (sum == T(-1)) bound_sink = sum;
    }

    template <class K, class T>
    double launch_bound_of(bool mutual)
    {
      int const blocks = 8 * nf::gpus().at(0).multiprocessors;
      if constexpr (nf::detail::has_way_back<K>)
        if (mutual) bound_kernel<true><<<blocks, bound_threads>>>(K{}, T(0.01), T(1e-4));
      if (!mutual) bound_kernel<false><<<blocks, bound_threads>>>(K{}, T(0.01), T(1e-4));
      nf::check_cuda(cudaGetLastError(), "launch_bound");
      return double(blocks) * bound_threads * bound_rounds * n_targets * n_sources<K, T> *
             (mutual ? 2 : 1);
    }

    template <class... Ks>
    bound_function const* bounds_of_list(nf::detail::type_list<Ks...>)
    {
      static bound_function const table[][2] = {
          {&launch_bound_of<Ks, float>, &launch_bound_of<Ks, double>}...};
      return &table[0][0];
    }
  }
}
