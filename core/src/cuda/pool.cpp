#include "on_device.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace nearfield
{
  namespace
  {
    using detail::on_device;

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

    /// What pools of CUDA have in common.
    class memory_of_pools : public device_memory
    {
    public:
      void deallocate(void* memory, std::size_t, cuda_stream stream) noexcept override
      {
        // an array may outlive a reset of its device; clear that error
        if (cudaFreeAsync(memory, stream) != cudaSuccess) static_cast<void>(cudaGetLastError());
      }

    protected:
      static void check_allocation(cudaError_t code, std::size_t bytes)
      {
        if (code != cudaSuccess)
          check_cuda(code,
                     ("cudaMallocFromPoolAsync(" + std::to_string(bytes) + " bytes)").c_str());
      }
    };

    class memory_of_caller final : public memory_of_pools
    {
    public:
      explicit memory_of_caller(cudaMemPool_t pool) : pool_(pool) {}

      void* allocate(std::size_t bytes, cuda_stream stream) override
      {
        void* memory = nullptr;
        check_allocation(cudaMallocFromPoolAsync(&memory, bytes, pool_, stream), bytes);
        return memory;
      }

    private:
      cudaMemPool_t pool_;
    };

    /// Allocations of this size and above have a separate pool. In a common one, small arrays that came and
    /// went took their places, and a search waited 0.1 ms for memory to be mapped again.
    constexpr std::size_t large = std::size_t(1) << 27;

    /// nearfield's own pools of a device, which live until the process ends or release() destroys them: never while
    /// another thread uses them.
    class own_memory final : public memory_of_pools
    {
    public:
      explicit own_memory(int device) : device_(device) {}

      void* allocate(std::size_t bytes, cuda_stream stream) override
      {
        std::lock_guard const lock(mutex_);
        for (cudaMemPool_t& pool : pools_)
          if (!pool) pool = make_pool(device_);
        cudaMemPool_t const pool = pools_[bytes < large ? 0 : 1];
        void* memory = nullptr;
        cudaError_t code = cudaMallocFromPoolAsync(&memory, bytes, pool, stream);
        if (code == cudaErrorMemoryAllocation)
        {
          static_cast<void>(cudaGetLastError()); // or the next launch would report it
          trim_pools();                          // the other pool may hold enough unused memory
          code = cudaMallocFromPoolAsync(&memory, bytes, pool, stream);
        }
        check_allocation(code, bytes);
        used_ += bytes;
        peak_ = std::max(peak_, used_);
        return memory;
      }
      void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override
      {
        memory_of_pools::deallocate(memory, bytes, stream);
        std::lock_guard const lock(mutex_);
        used_ -= bytes;
      }

      device_memory::usage state()
      {
        std::lock_guard const lock(mutex_);
        return {used_, peak_, held()};
      }
      void reset_peak()
      {
        std::lock_guard const lock(mutex_);
        peak_ = used_;
      }
      void trim()
      {
        std::lock_guard const lock(mutex_);
        trim_pools();
      }
      void release() noexcept
      {
        on_device const current(device_);
        std::lock_guard const lock(mutex_);
        for (cudaMemPool_t& pool : pools_)
          // CUDA keeps the memory of live arrays until they free it
          if (pool) cudaMemPoolDestroy(std::exchange(pool, nullptr));
      }

    private:
      void trim_pools()
      {
        if (!pools_[0] && !pools_[1]) return;
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        for (cudaMemPool_t const pool : pools_)
          if (pool) check_cuda(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
      }
      /// Of a broken device what it last said.
      std::uint64_t held() noexcept
      {
        std::uint64_t sum = 0;
        for (cudaMemPool_t const pool : pools_)
        {
          std::uint64_t value = 0;
          if (pool && cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value) !=
                          cudaSuccess)
            static_cast<void>(cudaGetLastError());
          sum += value;
        }
        return sum;
      }

      int device_;
      std::mutex mutex_;
      std::array<cudaMemPool_t, 2> pools_{}; ///< the small, the large; null until an allocation
      /// Of both: each pool knows only its own peak, and asking it at each allocation takes time.
      std::uint64_t used_ = 0, peak_ = 0;
    };

    struct memory_of_device
    {
      explicit memory_of_device(int device) : own(std::make_shared<own_memory>(device)), in_use(own)
      {}

      std::shared_ptr<own_memory> own;
      std::shared_ptr<device_memory> in_use;
    };

    /// Entries are never erased, nor is this destroyed: arrays and allocators of the caller's may outlive what
    /// the end of the process destroys first.
    struct memory_of_devices
    {
      std::mutex mutex;
      std::map<int, memory_of_device> all;

      memory_of_device& of(int device) { return all.try_emplace(device, device).first->second; }
    };

    memory_of_devices& devices()
    {
      static auto& devices = *new memory_of_devices;
      return devices;
    }

    std::shared_ptr<own_memory> own_of_current_device()
    {
      int const device = detail::current_device();
      std::lock_guard const lock(devices().mutex);
      return devices().of(device).own;
    }
  }

  std::shared_ptr<device_memory> device_memory_of(CUmemPoolHandle_st* pool)
  {
    if (!pool) throw error("device_memory_of: the pool is null; create it by cudaMemPoolCreate");
    return std::make_shared<memory_of_caller>(pool);
  }

  std::shared_ptr<device_memory> set_device_memory(std::shared_ptr<device_memory> memory)
  {
    int const device = detail::current_device();
    if (memory) own_of_current_device()->trim(); // what is unused there, the new one may need
    std::lock_guard const lock(devices().mutex);
    auto& [own, in_use] = devices().of(device);
    auto before = std::exchange(in_use, memory ? std::move(memory) : own);
    return before == own ? nullptr : before;
  }

  device_memory::usage memory_of_pool()
  {
    return own_of_current_device()->state();
  }

  void reset_pool_peak()
  {
    own_of_current_device()->reset_peak();
  }

  void trim_pool()
  {
    own_of_current_device()->trim();
  }

  namespace detail
  {
    on_device::on_device(int device) noexcept
    {
      if (device >= 0 && cudaGetDevice(&before_) == cudaSuccess && before_ != device)
        changed_ = cudaSetDevice(device) == cudaSuccess;
    }

    on_device::~on_device()
    {
      if (changed_ && cudaSetDevice(before_) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }

    void release_pools() noexcept
    {
      std::lock_guard const lock(devices().mutex);
      for (auto const& [device, memory] : devices().all) memory.own->release();
      static_cast<void>(cudaGetLastError());
    }

    device_block device_allocate(std::size_t bytes, cuda_stream stream, char const* what)
    {
      if (bytes == 0) return {nullptr, device_deleter{.stream = stream}};
      std::string failure = "returned null";
      try
      {
        int const device = detail::current_device();
        std::shared_ptr<device_memory> from;
        {
          std::lock_guard const lock(devices().mutex);
          from = devices().of(device).in_use;
        }
        if (void* const memory = from->allocate(bytes, stream))
          return {memory, device_deleter{bytes, stream, device, from}};
      }
      catch (error const& e)
      {
        throw error(std::string(what) + ": " + e.what(), e.kind(), e.code());
      }
      catch (std::exception const& e)
      {
        failure = std::string("threw ") + e.what();
      }
      static_cast<void>(cudaGetLastError()); // the allocator's, which the next launch would report
      throw error(std::string(what) + ": " + std::to_string(bytes) +
                      " bytes: the allocator of set_device_memory() " + failure,
                  error_kind::out_of_memory);
    }

    void device_copy(void* to, void const* from, std::size_t bytes, cuda_stream stream, int device)
    {
      if (bytes == 0) return;
      on_device const current(device); // the default stream is one of that device
      check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
                 "device_array: cudaMemcpyAsync");
      // a copy from pageable memory returns once that is read; other streams would not wait for the transfer
      check_cuda(cudaStreamSynchronize(stream), "device_array: cudaStreamSynchronize");
    }

    void device_deleter::operator()(void* memory) const noexcept
    {
      on_device const current(device);
      from->deallocate(memory, bytes, stream);
    }
  }
}
