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

  inline unsigned blocks_for(std::size_t threads, int block)
  {
    return static_cast<unsigned>((threads + block - 1) / block);
  }
}
