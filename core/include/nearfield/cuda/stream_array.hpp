#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

/// \file
/// Device memory that comes and goes in the order of a stream, from a pool of nearfield's own that keeps what
/// is freed: results and scratch of searches, which would else wait for the driver at every step.

namespace nearfield
{
  namespace detail
  {
    /// Throws error where the device has no memory for it; `what` is what it is for.
    NEARFIELD_API void* stream_allocate(std::size_t bytes, cuda_stream stream, char const* what);
    NEARFIELD_API void stream_free(void* memory, cuda_stream stream) noexcept;
    /// Gives back what the pools of all devices hold, of arrays that live when they go; the next allocation
    /// makes new pools. For whoever may reset a device, which ends its pools.
    NEARFIELD_API void release_pools() noexcept;
    /// Waits for the stream.
    NEARFIELD_API void stream_copy_to_host(void* to, void const* from, std::size_t bytes,
                                           cuda_stream stream);
  }

  /// What the pool of the current device holds, in bytes.
  struct pool_memory
  {
    /// in arrays that live
    std::uint64_t used = 0;
    /// the most that `used` has been since reset_pool_peak()
    std::uint64_t peak = 0;
    /// taken from the device, in arrays or kept for the next ones
    std::uint64_t held = 0;
  };

  /// Throws error where there is no device, and where nearfield was built without CUDA, as do the next two.
  NEARFIELD_API pool_memory memory_of_pool();
  /// The peak of memory_of_pool() begins again with what is used now.
  NEARFIELD_API void reset_pool_peak();
  /// Gives back to the device what the pool keeps and no array uses.
  NEARFIELD_API void trim_pool();

  /// n values in the memory of the current device; owns them. Whoever uses it on another stream waits for this
  /// one first; the stream outlives the array.
  template <class T>
  class stream_array
  {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    stream_array() = default;
    /// Not initialised. Throws error when the device has no memory for it.
    stream_array(std::size_t n, cuda_stream stream, char const* what = "stream_array")
        : data_(static_cast<T*>(detail::stream_allocate(n * sizeof(T), stream, what))), size_(n),
          stream_(stream)
    {}
    /// Takes the memory of the other one.
    stream_array(stream_array&& other) noexcept { swap(other); }
    /// Takes the memory of the other one; what was here goes.
    stream_array& operator=(stream_array&& other) noexcept
    {
      stream_array(std::move(other)).swap(*this); // what was here goes now
      return *this;
    }
    ~stream_array() { detail::stream_free(data_, stream_); }

    /// The first value, in device memory.
    [[nodiscard]] T* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// The stream whose work the memory belongs to.
    [[nodiscard]] cuda_stream stream() const { return stream_; }

    /// `to` has size() values, in host memory. Waits for the stream.
    void copy_to(std::span<T> to) const
    {
      detail::stream_copy_to_host(to.data(), data_, size_ * sizeof(T), stream_);
    }

    /// Exchanges two arrays without copies.
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
