#include "pinned.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <string>

namespace nearfield::detail
{
  void* pinned_allocate(std::size_t bytes, char const* what)
  {
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, bytes), what);
    return memory;
  }

  void pinned_free(void* memory) noexcept
  {
    if (cudaFreeHost(memory) != cudaSuccess) static_cast<void>(cudaGetLastError());
  }

  bool is_pinned(void const* memory, std::size_t bytes) noexcept
  {
    auto const* const first = static_cast<char const*>(memory);
    cudaPointerAttributes found{};
    for (char const* const byte : {first, first + bytes - 1})
      if (cudaPointerGetAttributes(&found, byte) != cudaSuccess)
      {
        static_cast<void>(cudaGetLastError());
        return false;
      }
      else if (found.type != cudaMemoryTypeHost)
        return false;
    return true;
  }

  void wait_for_word(std::uint32_t const volatile& word, cuda_stream stream, char const* what)
  {
    // the query costs more than reading the word
    unsigned spins = 0;
    while (word == 0)
      if (++spins % 4096 == 0)
        if (auto const state = cudaStreamQuery(stream); state != cudaErrorNotReady)
        {
          check_cuda(state, what);
          if (word == 0)
            throw error(std::string(what) + " ended without an answer", error_kind::cuda_failure);
        }
    std::atomic_thread_fence(std::memory_order_acquire);
  }
}
