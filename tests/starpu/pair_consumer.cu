#include "pair_consumer.hpp"

namespace nearfield::test
{
  namespace
  {
    template <class T>
    __global__ void sum_kernel(index_type const* i, index_type const* j, std::uint64_t n,
                               T const* x, unsigned long long* sum)
    {
      std::uint64_t mine = 0;
      std::uint64_t const stride = gridDim.x * std::uint64_t(blockDim.x);
      for (std::uint64_t p = blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x; p < n;
           p += stride)
        mine += pair_hash(i[p], j[p], x[i[p]], x[j[p]]);
      atomicAdd(sum, static_cast<unsigned long long>(mine));
    }
  }

  template <class T>
  void sum_pairs_on_gpu(index_type const* i, index_type const* j, std::uint64_t n, T const* x,
                        unsigned long long* sum, cuda_stream stream)
  {
    cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    sum_kernel<<<64, 256, 0, stream>>>(i, j, n, x, sum);
  }

  template void sum_pairs_on_gpu(index_type const*, index_type const*, std::uint64_t, float const*,
                                 unsigned long long*, cuda_stream);
  template void sum_pairs_on_gpu(index_type const*, index_type const*, std::uint64_t, double const*,
                                 unsigned long long*, cuda_stream);
}
