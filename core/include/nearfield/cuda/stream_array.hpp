#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

/// \file
/// Stream-ordered device memory from nearfield's own pools, which keep what is freed. It serves the results
/// and scratch of searches, which would otherwise wait for the driver at every step.

namespace nearfield
{
  namespace detail
  {
    /// Throws nearfield::error if the device has too little memory; `what` says in the message what it is
    /// for.
    NEARFIELD_API void* stream_allocate(std::size_t bytes, cuda_stream stream, char const* what);
    NEARFIELD_API void stream_free(void* memory, cuda_stream stream) noexcept;
    /// Destroys the pools of all devices; memory of live arrays is released once they free it. The next
    /// allocation makes new pools. To be called before a device is reset, which invalidates its pools.
    NEARFIELD_API void release_pools() noexcept;
    /// Waits for the stream.
    NEARFIELD_API void stream_copy_to_host(void* to, void const* from, std::size_t bytes,
                                           cuda_stream stream);
  }

  /// The memory of nearfield's pools on the current device, in bytes.
  struct pool_memory
  {
    /// in live arrays
    std::uint64_t used = 0;
    /// the most that `used` has been since reset_pool_peak()
    std::uint64_t peak = 0;
    /// taken from the device, in use or kept for later arrays
    std::uint64_t held = 0;
  };

  /// This and the next two throw nearfield::error if there is no device, or if nearfield was built without
  /// CUDA.
  NEARFIELD_API pool_memory memory_of_pool();
  /// Restarts the peak of memory_of_pool() from the present use.
  NEARFIELD_API void reset_pool_peak();
  /// Waits for the device, then returns the unused memory of the pools to it.
  NEARFIELD_API void trim_pool();

  /// Owns n values in the memory of the current device. Another stream must wait for this one before it uses
  /// them, and the stream must outlive the array.
  template <class T>
  class stream_array
  {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    stream_array() = default;
    /// Not initialised. Throws nearfield::error if the device has too little memory.
    stream_array(std::size_t n, cuda_stream stream, char const* what = "stream_array")
        : data_(static_cast<T*>(detail::stream_allocate(n * sizeof(T), stream, what))), size_(n),
          stream_(stream)
    {}
    /// Takes the memory of `other`.
    stream_array(stream_array&& other) noexcept { swap(other); }
    /// Takes the memory of `other` and frees its own.
    stream_array& operator=(stream_array&& other) noexcept
    {
      stream_array(std::move(other)).swap(*this); // frees the old memory now, not when `other` dies
      return *this;
    }
    ~stream_array() { detail::stream_free(data_, stream_); }

    /// The first value, in device memory.
    [[nodiscard]] T* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// The stream that orders the use of the memory.
    [[nodiscard]] cuda_stream stream() const { return stream_; }

    /// Copies size() values to host memory, and waits for the stream.
    void copy_to(std::span<T> to) const
    {
      detail::check_span("stream_array::copy_to", to.size(), size_);
      detail::stream_copy_to_host(to.data(), data_, size_ * sizeof(T), stream_);
    }

    /// Swaps two arrays without copying.
    void swap(stream_array& other) noexcept
    {
      std::swap(data_, other.data_);
      std::swap(size_, other.size_);
      std::swap(stream_, other.stream_);
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    cuda_stream stream_ = nullptr;
  };
}
