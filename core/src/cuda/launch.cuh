#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::detail
{
  inline constexpr std::uint32_t all_lanes = ~0u;

  /// The threads of a block in kernels of one element per thread.
  inline constexpr int block_threads = 256;

  /// The element of this thread in such a kernel.
  __device__ inline std::uint32_t thread_index()
  {
    return blockIdx.x * block_threads + threadIdx.x;
  }

  /// The least i < n for which is_before(i) is false, or n; it is true for all before that.
  template <class F>
  __device__ std::uint32_t count_before(std::uint32_t n, F const& is_before)
  {
    std::uint32_t count = 0;
    while (n > 0)
    {
      std::uint32_t const half = n / 2;
      bool const counts = is_before(count + half);
      count = counts ? count + half + 1 : count;
      n = counts ? n - half - 1 : half;
    }
    return count;
  }

  inline unsigned blocks_for(std::size_t threads, int block)
  {
    return static_cast<unsigned>((threads + block - 1) / block);
  }
}
