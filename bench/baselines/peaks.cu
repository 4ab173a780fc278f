#include "peaks.hpp"

#include <nearfield/core/interaction.hpp>
#include <nearfield/cuda/device.hpp>

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
}
