#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/stream.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield
{
  /// One NVIDIA GPU that this process sees.
  struct gpu
  {
    /// Its product name, such as "NVIDIA H100 80GB HBM3".
    std::string name;
    /// Its memory in bytes, in use or not.
    std::uint64_t memory_bytes;
    /// The compute capability, major.minor.
    int major;
    int minor; ///< of the compute capability
    /// The number of streaming multiprocessors.
    int multiprocessors;
  };

  /// The GPUs in CUDA's order; none where this nearfield was built without CUDA, or where there is no
  /// driver or device. Throws error only where a device is there and does not answer.
  NEARFIELD_API std::vector<gpu> gpus();

  /// Whether this nearfield was built with CUDA; gpus() tells whether there is one.
  NEARFIELD_API bool built_with_cuda() noexcept;

  /// Why gpus() is empty, in one line with the remedy; empty itself where there is a GPU.
  NEARFIELD_API std::string cuda_problem();

  /// How many bytes of the current device's memory an allocation can get: what is free, and what
  /// nearfield's pool keeps and no array uses. Throws error where there is no device, and where
  /// nearfield was built without CUDA.
  NEARFIELD_API std::uint64_t free_gpu_memory();

  /// Throws error when a CUDA function returned a code other than 0 (cudaSuccess). `what` is the place: the
  /// function, and what it was called for.
  NEARFIELD_API void check_cuda(int code, char const* what);

  /// Returns when the stream has done what it was given. Throws error where that failed, as a kernel that
  /// was launched before, and where nearfield was built without CUDA.
  NEARFIELD_API void synchronize(cuda_stream stream);
}
