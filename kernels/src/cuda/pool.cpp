#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/stream_array.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace nearfield
{
  namespace
  {
    cudaMemPool_t make_pool(int device)
    {
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = device;
      cudaMemPool_t pool = nullptr;
      check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
      // a pool that gives memory back at every wait costs milliseconds a search
      std::uint64_t keep = UINT64_MAX;
      check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
                 "cudaMemPoolSetAttribute");
      return pool;
    }

    std::mutex mutex;
    std::map<std::pair<int, bool>, cudaMemPool_t> pools;

    /// Results this large have a pool of their own. In one with the small arrays that come and go between
    /// them they lost their places, and a search waited 0.1 ms for memory to be mapped anew.
    constexpr std::size_t large = std::size_t(1) << 27;
    constexpr std::size_t sizes[] = {0, large};

    /// For so many bytes on the current device; lives as long as the process, whose end frees it, or until a
    /// reset.
    cudaMemPool_t current_pool(std::size_t bytes)
    {
      int device = 0;
      check_cuda(cudaGetDevice(&device), "cudaGetDevice");
      std::lock_guard const lock(mutex);
      auto const [place, is_new] = pools.try_emplace({device, bytes >= large}, nullptr);
      if (!place->second) place->second = make_pool(device);
      return place->second;
    }

    std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
    {
      std::uint64_t value = 0;
      check_cuda(cudaMemPoolGetAttribute(pool, which, &value), "cudaMemPoolGetAttribute");
      return value;
    }

    std::uint64_t sum_of(cudaMemPoolAttr which)
    {
      std::uint64_t sum = 0;
      for (std::size_t const bytes : sizes) sum += attribute(current_pool(bytes), which);
      return sum;
    }

    /// The most that both pools of the current device had in use at a time: at least `used`, which it is set to
    /// where `reset`. Pools know the peaks of their own alone.
    std::uint64_t peak_with(std::uint64_t used, bool reset = false)
    {
      static std::map<int, std::uint64_t> peaks;
      int device = 0;
      check_cuda(cudaGetDevice(&device), "cudaGetDevice");
      std::lock_guard const lock(mutex);
      auto& peak = peaks[device];
      peak = reset ? used : std::max(peak, used);
      return peak;
    }
  }

  pool_memory memory_of_pool()
  {
    std::uint64_t const used = sum_of(cudaMemPoolAttrUsedMemCurrent);
    return {used, peak_with(used), sum_of(cudaMemPoolAttrReservedMemCurrent)};
  }

  void reset_pool_peak()
  {
    peak_with(sum_of(cudaMemPoolAttrUsedMemCurrent), true);
  }

  void trim_pool()
  {
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (std::size_t const bytes : sizes)
      check_cuda(cudaMemPoolTrimTo(current_pool(bytes), 0), "cudaMemPoolTrimTo");
  }

  namespace detail
  {
    void release_pools() noexcept
    {
      std::lock_guard const lock(mutex);
      if (pools.empty()) return;
      int current = 0;
      cudaGetDevice(&current);
      for (auto const& [place, pool] : pools)
      {
        cudaSetDevice(place.first);
        cudaMemPoolDestroy(pool); // of arrays that are still there, when they go
      }
      cudaSetDevice(current);
      static_cast<void>(cudaGetLastError());
      pools.clear();
    }

    void* stream_allocate(std::size_t bytes, cuda_stream stream, char const* what)
    {
      if (bytes == 0) return nullptr;
      void* memory = nullptr;
      cudaError_t code = cudaSuccess;
      for (bool const again : {false, true})
      {
        if (again) trim_pool(); // what the other pool keeps may do
        code = cudaMallocFromPoolAsync(&memory, bytes, current_pool(bytes), stream);
        // a failure is remembered, and would be taken for that of the next launch
        if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
        if (code != cudaErrorMemoryAllocation) break;
      }
      check_cuda(code, (std::string(what) + ": " + std::to_string(bytes) + " bytes").c_str());
      peak_with(sum_of(cudaMemPoolAttrUsedMemCurrent));
      return memory;
    }

    void stream_free(void* memory, cuda_stream stream) noexcept
    {
      // an array may outlive a reset of its device: the failure is nobody else's
      if (memory && cudaFreeAsync(memory, stream) != cudaSuccess)
        static_cast<void>(cudaGetLastError());
    }

    void stream_copy_to_host(void* to, void const* from, std::size_t bytes, cuda_stream stream)
    {
      if (bytes != 0)
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
                   "stream_array: cudaMemcpyAsync");
      check_cuda(cudaStreamSynchronize(stream), "stream_array: cudaStreamSynchronize");
    }
  }
}
