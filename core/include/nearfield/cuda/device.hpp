#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield
{
  /// An NVIDIA GPU that this process can use.
  struct gpu
  {
    /// Its product name, such as "NVIDIA H100 80GB HBM3".
    std::string name;
    /// Its total memory in bytes.
    std::uint64_t memory_bytes;
    /// The compute capability, major.minor.
    int major;
    int minor; ///< of the compute capability
    /// The number of streaming multiprocessors.
    int multiprocessors;
  };

  /// The visible GPUs in CUDA's order; empty if nearfield was built without CUDA, or if CUDA finds no driver
  /// or device (see cuda_problem()). Throws nearfield::error if a device does not report its properties.
  NEARFIELD_API std::vector<gpu> gpus();

  /// Whether nearfield was built with CUDA; gpus() lists the GPUs.
  NEARFIELD_API bool built_with_cuda() noexcept;

  /// Why gpus() is empty, in one line with the remedy; empty if there is a GPU.
  NEARFIELD_API std::string cuda_problem();

  /// Bytes that can be allocated on the current device: what is free, and what nearfield's pools hold unused.
  /// Throws nearfield::error if there is no device, or if nearfield was built without CUDA.
  NEARFIELD_API std::uint64_t free_gpu_memory();

  /// Throws nearfield::error if `code`, returned by a CUDA function, is not 0 (cudaSuccess). `what` starts
  /// the message: the function, and what it was called for.
  NEARFIELD_API void check_cuda(int code, char const* what);

  /// Waits until the stream has finished its work. Throws nearfield::error if that work failed, for example a
  /// kernel launched earlier, or if nearfield was built without CUDA.
  NEARFIELD_API void synchronize(cuda_stream stream);

  namespace detail
  {
    /// The number of multiprocessors of the current device; 1 if CUDA does not tell, since the launch that asks
    /// fails too then. For .cu files: a build without CUDA does not have it.
    NEARFIELD_API unsigned multiprocessors() noexcept;

    /// The index in gpus() of the calling thread's current device.
    NEARFIELD_API int current_device();
    /// Makes a device of gpus() the current one of the calling thread.
    NEARFIELD_API void set_current_device(int device);
    /// What tells a device of gpus() from every other one, in any process of any machine.
    NEARFIELD_API std::string identity_of(int device);

    /// Shows the calling thread's time from construction to destruction under `name` in NVIDIA's profilers (an
    /// NVTX range). Does nothing if nearfield was built without CUDA.
    class NEARFIELD_API profiler_range
    {
    public:
      explicit profiler_range(char const* name) noexcept;
      profiler_range(profiler_range const&) = delete;
      profiler_range& operator=(profiler_range const&) = delete;
      ~profiler_range();
    };
  }
}
