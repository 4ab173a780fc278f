#pragma once

#include "thrust_pairs.hpp"

#include <nearfield/cuda/device.hpp>

#include <cuda_runtime_api.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/memory_resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace baseline
{
  /// Device memory for Thrust, fresh or pooled, that records its peak use.
  class counted_memory final : public thrust::mr::memory_resource<thrust::device_ptr<void>>
  {
  public:
    explicit counted_memory(device_memory from) : from_(from) {}

    [[nodiscard]] std::size_t peak_bytes() const { return peak_bytes_; }

    thrust::device_ptr<void> do_allocate(std::size_t bytes, std::size_t) override
    {
      void* memory = nullptr;
      if (from_ == device_memory::pooled)
        nearfield::check_cuda(cudaMallocFromPoolAsync(&memory, bytes, pool(), nullptr),
                              "cudaMallocFromPoolAsync");
      else
        nearfield::check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
      bytes_ += bytes;
      peak_bytes_ = std::max(peak_bytes_, bytes_);
      return thrust::device_ptr<void>(memory);
    }

    void do_deallocate(thrust::device_ptr<void> memory, std::size_t bytes, std::size_t) override
    {
      bytes_ -= bytes;
      if (from_ == device_memory::pooled)
        cudaFreeAsync(memory.get(), nullptr);
      else
        cudaFree(memory.get());
    }

  private:
    /// A pool on the device current in the first call, which keeps freed memory until the program ends.
    static cudaMemPool_t pool()
    {
      static cudaMemPool_t const pool = []
      {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        nearfield::check_cuda(cudaGetDevice(&properties.location.id), "cudaGetDevice");
        cudaMemPool_t made = nullptr;
        nearfield::check_cuda(cudaMemPoolCreate(&made, &properties), "cudaMemPoolCreate");
        std::uint64_t kept = UINT64_MAX;
        nearfield::check_cuda(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept),
                              "cudaMemPoolSetAttribute");
        return made;
      }();
      return pool;
    }

    device_memory from_;
    std::size_t bytes_ = 0, peak_bytes_ = 0;
  };

  template <class T>
  using counted_allocator = thrust::mr::allocator<T, counted_memory>;
  template <class T>
  using counted_vector = thrust::device_vector<T, counted_allocator<T>>;
}
