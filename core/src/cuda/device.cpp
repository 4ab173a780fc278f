#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>

#include <cstdlib>

namespace nearfield
{
  namespace
  {
    std::string version(int number)
    {
      return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    }

    struct device_count
    {
      int devices = 0; // declared first: the initialiser of `code` writes it
      cudaError_t code;

      device_count() : code(cudaGetDeviceCount(&devices))
      {
        // Clear the recorded error, or the next caller would see it.
        if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
      }
    };

    char const* remedy(cudaError_t code)
    {
      switch (code)
      {
      case cudaErrorMemoryAllocation:
        return ": free memory on the GPU or run a smaller problem";
      case cudaErrorNoKernelImageForDevice:
        return ": configure nearfield with -DCMAKE_CUDA_ARCHITECTURES=<major minor> of this GPU";
      default:
        return "";
      }
    }
  }

  std::vector<gpu> gpus()
  {
    device_count const count;
    std::vector<gpu> found;
    if (count.code != cudaSuccess) return found;
    for (int device = 0; device < count.devices; ++device)
    {
      cudaDeviceProp properties;
      check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
      found.push_back({properties.name, properties.totalGlobalMem, properties.major,
                       properties.minor, properties.multiProcessorCount});
    }
    return found;
  }

  bool built_with_cuda() noexcept
  {
    return true;
  }

  std::string cuda_problem()
  {
    device_count const count;
    if (count.code == cudaSuccess && count.devices > 0) return {};

    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    if (driver == 0) return "no NVIDIA driver: install one, or compute on the CPU";
    if (count.code == cudaErrorInsufficientDriver)
      return "the NVIDIA driver is too old: found CUDA " + version(driver) + ", needs " +
             version(CUDART_VERSION);
    if (count.code != cudaSuccess && count.code != cudaErrorNoDevice)
      return std::string("CUDA failed to initialise: ") + cudaGetErrorString(count.code);
    char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible ? "no NVIDIA GPU among CUDA_VISIBLE_DEVICES='" + std::string(visible) + "'"
                   : "no NVIDIA GPU in this machine";
  }

  std::uint64_t free_gpu_memory()
  {
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    device_memory::usage const pool = memory_of_pool();
    return free + (pool.held - pool.used);
  }

  void check_cuda(int code, char const* what)
  {
    if (code == cudaSuccess) return;
    static_cast<void>(cudaGetLastError()); // or the next launch would report it once more
    auto const failure = static_cast<cudaError_t>(code);
    // CUDA reports a missing driver as one that is too old
    if (failure == cudaErrorInsufficientDriver || failure == cudaErrorNoDevice)
      throw error(std::string(what) + " failed: " + cuda_problem(), error_kind::not_available,
                  code);
    throw error(std::string(what) + " failed: " + cudaGetErrorString(failure) + " (" +
                    cudaGetErrorName(failure) + ")" + remedy(failure),
                failure == cudaErrorMemoryAllocation ? error_kind::out_of_memory
                                                     : error_kind::cuda_failure,
                code);
  }

  void synchronize(cuda_stream stream)
  {
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  namespace detail
  {
    unsigned multiprocessors() noexcept
    {
      int device = 0, count = 1;
      static_cast<void>(cudaGetDevice(&device));
      static_cast<void>(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
      return static_cast<unsigned>(count);
    }

    int current_device()
    {
      int device = 0;
      check_cuda(cudaGetDevice(&device), "cudaGetDevice");
      return device;
    }

    void set_current_device(int device)
    {
      check_cuda(cudaSetDevice(device), "cudaSetDevice");
    }

    std::string identity_of(int device)
    {
      cudaDeviceProp properties;
      check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
      return {properties.uuid.bytes, sizeof(properties.uuid.bytes)};
    }

    void device_copy_async(void* to, void const* from, std::size_t bytes, cuda_stream stream)
    {
      if (bytes == 0) return;
      check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
    }

    void device_clear(void* memory, std::size_t bytes, cuda_stream stream)
    {
      if (bytes == 0) return;
      check_cuda(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
    }
  }
}
