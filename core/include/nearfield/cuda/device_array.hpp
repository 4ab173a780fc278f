#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

/// \file
/// Device memory for programs that have no container for it: `device_array` and `device_columns`, allocated at
/// once, and `stream_array`, allocated in the order of a stream from nearfield's own pools, which keep what is
/// freed. The results and scratch of searches are stream arrays, since they would otherwise wait for the driver
/// at every step. Views of any other device allocation work as well.

namespace nearfield
{
  namespace detail
  {
    /// These throw nearfield::error if CUDA fails.
    NEARFIELD_API void* device_allocate(std::size_t bytes);
    NEARFIELD_API void device_free(void* memory) noexcept;
    NEARFIELD_API void copy_to_device(void* to, void const* from, std::size_t bytes);
    NEARFIELD_API void copy_to_host(void* to, void const* from, std::size_t bytes);
    /// asynchronous
    NEARFIELD_API void device_clear(void* memory, std::size_t bytes, cuda_stream stream);

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

    /// Throws nearfield::error if a span of host memory is shorter than what is copied from or to it.
    inline void check_span(char const* function, std::size_t found, std::size_t expected)
    {
      if (found < expected)
        throw error(std::string(function) + ": found a span of " + std::to_string(found) +
                    " values, expected " + std::to_string(expected));
    }
  }

  /// Owns n values in the memory of the current device.
  template <class T>
  class device_array
  {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    device_array() = default;
    /// Not initialised. Throws nearfield::error if the device has too little memory.
    explicit device_array(std::size_t n)
        : data_(static_cast<T*>(detail::device_allocate(n * sizeof(T)))), size_(n)
    {}
    /// A copy of host memory.
    explicit device_array(std::span<T const> from) : device_array(from.size()) { copy_from(from); }
    /// Takes the memory of `other`.
    device_array(device_array&& other) noexcept { swap(other); }
    /// Swaps memory with `other`.
    device_array& operator=(device_array&& other) noexcept
    {
      swap(other);
      return *this;
    }
    ~device_array() { detail::device_free(data_); }

    /// The first value, in device memory.
    [[nodiscard]] T* data() { return data_; }
    /// The first value, in device memory.
    [[nodiscard]] T const* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Copies size() values from host memory, and waits until they have arrived.
    void copy_from(std::span<T const> from)
    {
      detail::check_span("device_array::copy_from", from.size(), size_);
      detail::copy_to_device(data_, from.data(), size_ * sizeof(T));
    }
    /// Copies size() values to host memory, and waits for them. The copy runs on the default stream, so wait
    /// for work on non-blocking streams first.
    void copy_to(std::span<T> to) const
    {
      detail::check_span("device_array::copy_to", to.size(), size_);
      detail::copy_to_host(to.data(), data_, size_ * sizeof(T));
    }

  private:
    void swap(device_array& other) noexcept
    {
      std::swap(data_, other.data_);
      std::swap(size_, other.size_);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
  };

  /// N columns in device memory.
  template <class T, int N>
  class device_columns
  {
  public:
    /// n values per column, not initialised. Throws nearfield::error if the device has too little memory.
    explicit device_columns(std::size_t n)
    {
      for (auto& column : columns_) column = device_array<T>(n);
    }
    /// A copy of columns in host memory.
    template <class U>
    requires std::is_same_v<std::remove_const_t<U>, T>
    explicit device_columns(soa<U, N> const& from)
    {
      for (int c = 0; c < N; ++c)
        columns_[c] = device_array<T>(std::span<T const>(from[c], from.size()));
    }

    /// The number of values in each column.
    [[nodiscard]] std::size_t size() const { return columns_[0].size(); }
    /// The columns as kernels take them.
    [[nodiscard]] soa<T, N> view() { return {pointers<T>(columns_), size()}; }
    /// Read-only view of the columns.
    [[nodiscard]] soa<T const, N> view() const { return {pointers<T const>(columns_), size()}; }
    /// Copies to columns of size() values in host memory, as device_array::copy_to does.
    void copy_to(soa<T, N> const& to) const
    {
      for (int c = 0; c < N; ++c) columns_[c].copy_to({to[c], to.size()});
    }

  private:
    template <class U, class Columns>
    static std::array<U*, N> pointers(Columns& columns)
    {
      std::array<U*, N> result;
      for (int c = 0; c < N; ++c) result[c] = columns[c].data();
      return result;
    }

    std::array<device_array<T>, N> columns_;
  };

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
    [[nodiscard]] T* data() { return data_; }
    /// The first value, in device memory.
    [[nodiscard]] T const* data() const { return data_; }
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
