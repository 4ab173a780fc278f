#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
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
      // by default a pool returns memory to the driver at every synchronisation: milliseconds per search
      std::uint64_t keep = UINT64_MAX;
      check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
                 "cudaMemPoolSetAttribute");
      return pool;
    }

    /// Allocations of this size and above have a separate pool. In a common one, small arrays that came and
    /// went took their places, and a search waited 0.1 ms for memory to be mapped again.
    constexpr std::size_t large = std::size_t(1) << 27;

    /// The two pools of a device. They live until the process ends or release_pools() destroys them.
    struct device_pools
    {
      cudaMemPool_t of_small = nullptr, of_large = nullptr;
      /// The most that both had in use at a time: each pool knows only its own peak.
      std::atomic<std::uint64_t> peak = 0;

      [[nodiscard]] std::uint64_t sum(cudaMemPoolAttr which) const
      {
        std::uint64_t sum = 0;
        for (cudaMemPool_t const pool : {of_small, of_large})
        {
          std::uint64_t value = 0;
          check_cuda(cudaMemPoolGetAttribute(pool, which, &value), "cudaMemPoolGetAttribute");
          sum += value;
        }
        return sum;
      }
      /// Returns the bytes in use, and raises the recorded peak to at least that.
      std::uint64_t used()
      {
        std::uint64_t const now = sum(cudaMemPoolAttrUsedMemCurrent);
        for (std::uint64_t most = peak; most < now && !peak.compare_exchange_weak(most, now);)
        {}
        return now;
      }
    };

    std::mutex mutex;
    std::map<int, device_pools> devices; ///< entries are never erased

    device_pools& current_pools()
    {
      int device = 0;
      check_cuda(cudaGetDevice(&device), "cudaGetDevice");
      std::lock_guard const lock(mutex);
      device_pools& found = devices[device];
      if (!found.of_small) found.of_small = make_pool(device);
      if (!found.of_large) found.of_large = make_pool(device);
      return found;
    }
  }

  pool_memory memory_of_pool()
  {
    device_pools& pools = current_pools();
    std::uint64_t const used = pools.used();
    return {used, pools.peak, pools.sum(cudaMemPoolAttrReservedMemCurrent)};
  }

  void reset_pool_peak()
  {
    device_pools& pools = current_pools();
    pools.peak = pools.sum(cudaMemPoolAttrUsedMemCurrent);
  }

  void trim_pool()
  {
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    device_pools const& pools = current_pools();
    for (cudaMemPool_t const pool : {pools.of_small, pools.of_large})
      check_cuda(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  }

  namespace detail
  {
    void release_pools() noexcept
    {
      std::lock_guard const lock(mutex);
      if (devices.empty()) return;
      int current = 0;
      cudaGetDevice(&current);
      for (auto& [device, pools] : devices)
      {
        cudaSetDevice(device);
        for (cudaMemPool_t* const pool : {&pools.of_small, &pools.of_large})
          // CUDA keeps the memory of live arrays until they free it
          if (*pool) cudaMemPoolDestroy(std::exchange(*pool, nullptr));
      }
      cudaSetDevice(current);
      static_cast<void>(cudaGetLastError());
    }

    void* stream_allocate(std::size_t bytes, cuda_stream stream, char const* what)
    {
      if (bytes == 0) return nullptr;
      device_pools& pools = current_pools();
      void* memory = nullptr;
      cudaError_t code = cudaSuccess;
      for (bool const again : {false, true})
      {
        if (again) trim_pool(); // the other pool may hold enough unused memory
        code = cudaMallocFromPoolAsync(&memory, bytes,
                                       bytes < large ? pools.of_small : pools.of_large, stream);
        // clear the recorded error, or the next launch would report it
        if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
        if (code != cudaErrorMemoryAllocation) break;
      }
      check_cuda(code, (std::string(what) + ": " + std::to_string(bytes) + " bytes").c_str());
      static_cast<void>(pools.used());
      return memory;
    }

    void stream_free(void* memory, cuda_stream stream) noexcept
    {
      // an array may outlive a reset of its device; clear that error
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
