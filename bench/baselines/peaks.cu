#include "peaks.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/pair.hpp>

namespace baseline
{
  namespace
  {
    namespace nf = nearfield;

    constexpr int threads = 256, rounds = 4096;

    int n_blocks()
    {
      static int const n = 8 * nf::gpus().at(0).multiprocessors;
      return n;
    }

    /// Never written, but the compiler cannot know that.
    __device__ double sink;

    template <class T>
    struct root
    {
      __device__ T operator()(T x) const { return nf::rsqrt(x); }
    };

    template <class T>
    struct multiply_add
    {
      T a, b;
      __device__ T operator()(T x) const { return fma(x, a, b); }
    };

    constexpr int chains = 8;

    template <class T, class Operation>
    __global__ void peak_kernel(Operation const operation, T const start)
    {
      T value[chains];
      for (int c = 0; c < chains; ++c) value[c] = start + T(threadIdx.x + c);
#pragma unroll 8
      for (int i = 0; i < rounds; ++i)
      {
        NEARFIELD_UNROLL
        for (int c = 0; c < chains; ++c) value[c] = operation(value[c]);
      }
      T sum = 0;
      for (T const v : value) sum += v;
      if (sum == T(-1)) sink = sum;
    }

    template <class T, class Operation>
    double launch(Operation operation)
    {
      peak_kernel<<<n_blocks(), threads>>>(operation, T(1.5));
      nf::check_cuda(cudaGetLastError(), "launch_peak");
      return double(n_blocks()) * threads * rounds * chains;
    }

    constexpr int n_targets = 2;
    template <class T>
    constexpr int n_sources = sizeof(T) == 4 ? 16 : 8;

    template <class T, int N>
    __device__ nf::vec<T, N> filled(T value)
    {
      nf::vec<T, N> result;
      for (int d = 0; d < N; ++d) result[d] = value * T(d + 1);
      return result;
    }

    template <bool Mutual, class K, class T>
    __global__ void __launch_bounds__(threads) bound_kernel(K const k, T const start, T const step)
    {
      nf::vec<T, K::dim> x[n_targets], y[n_sources<T>];
      nf::vec<T, K::n_in> xq[n_targets], yq[n_sources<T>];
      nf::vec<T, K::n_out> xsum[n_targets], ysum[n_sources<T>];
      NEARFIELD_UNROLL
      for (int r = 0; r < n_targets; ++r)
      {
        x[r] = filled<T, K::dim>(start * T(threadIdx.x + r + 1));
        xq[r] = filled<T, K::n_in>(start + T(r));
        xsum[r] = {};
      }
      NEARFIELD_UNROLL
      for (int s = 0; s < n_sources<T>; ++s)
      {
        y[s] = filled<T, K::dim>(-start * T(threadIdx.x * 3 + s + 1));
        yq[s] = filled<T, K::n_in>(start - T(s));
        ysum[s] = {};
      }
#pragma unroll 1
      for (int i = 0; i < rounds / 16; ++i)
      {
        NEARFIELD_UNROLL
        for (int s = 0; s < n_sources<T>; ++s)
        {
          NEARFIELD_UNROLL
          for (int r = 0; r < n_targets; ++r)
            nf::detail::interact<Mutual, false>(k, nf::detail::between<K>(x[r], y[s]), yq[s],
                                                xsum[r], xq[r], ysum[s]);
        }
        // otherwise the compiler would hoist the invariant computation out of the loop
        NEARFIELD_UNROLL
        for (int r = 0; r < n_targets; ++r)
        {
          NEARFIELD_UNROLL
          for (int d = 0; d < K::dim; ++d) x[r][d] += step;
        }
      }
      T sum = 0;
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o)
      {
        for (auto const& value : xsum) sum += value[o];
        for (auto const& value : ysum) sum += value[o];
      }
      if (sum == T(-1)) sink = sum;
    }
  }

  double launch_peak(peak which)
  {
    switch (which)
    {
    case peak::rsqrt_f32:
      return launch<float>(root<float>{});
    case peak::fma_f32:
      return launch<float>(multiply_add<float>{0.5F, 0.25F});
    case peak::fma_f64:
      return launch<double>(multiply_add<double>{0.5, 0.25});
    case peak::rsqrt_f64:
      return launch<double>(root<double>{});
    }
    return 0;
  }

  template <class K, class T>
  double launch_bound(bool mutual)
  {
    if (mutual)
      bound_kernel<true><<<n_blocks(), threads>>>(K{}, T(0.01), T(1e-4));
    else
      bound_kernel<false><<<n_blocks(), threads>>>(K{}, T(0.01), T(1e-4));
    nf::check_cuda(cudaGetLastError(), "launch_bound");
    return double(n_blocks()) * threads * (rounds / 16) * n_targets * n_sources<T> *
           (mutual ? 2 : 1);
  }

#define INSTANTIATE(...)                                                                           \
  template double launch_bound<__VA_ARGS__, float>(bool);                                          \
  template double launch_bound<__VA_ARGS__, double>(bool);
  INSTANTIATE(nf::one_over_r<3>)
  INSTANTIATE(nf::grad_one_over_r<3>)
  INSTANTIATE(nf::val_grad_one_over_r<3>)
  INSTANTIATE(nf::r_over_r3<3>)
  INSTANTIATE(nf::log_r)
  INSTANTIATE(nf::grad_log_r)
  INSTANTIATE(nf::gaussian<3>)
  INSTANTIATE(nf::dipole_tensor<3>)
#undef INSTANTIATE
}
