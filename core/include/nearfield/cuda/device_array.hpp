#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/stream.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

/// \file
/// Device memory for programs without a container of their own for it. Views of any other allocation serve
/// as well.

namespace nearfield
{
  namespace detail
  {
    /// Throw error where CUDA does not do it.
    NEARFIELD_API void* device_allocate(std::size_t bytes);
    NEARFIELD_API void device_free(void* memory) noexcept;
    NEARFIELD_API void copy_to_device(void* to, void const* from, std::size_t bytes);
    NEARFIELD_API void copy_to_host(void* to, void const* from, std::size_t bytes);
    /// asynchronous
    NEARFIELD_API void device_clear(void* memory, std::size_t bytes, cuda_stream stream);
  }

  /// n values in the memory of the current device; owns them.
  template <class T>
  class device_array
  {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    device_array() = default;
    /// Not initialised. Throws error when the device has no memory for it.
    explicit device_array(std::size_t n)
        : data_(static_cast<T*>(detail::device_allocate(n * sizeof(T)))), size_(n)
    {}
    /// A copy of host memory.
    explicit device_array(std::span<T const> from) : device_array(from.size()) { copy_from(from); }
    /// Takes the memory of the other one.
    device_array(device_array&& other) noexcept { swap(other); }
    /// Takes the memory of the other one, which gets this one's.
    device_array& operator=(device_array&& other) noexcept
    {
      swap(other);
      return *this;
    }
    ~device_array() { detail::device_free(data_); }

    /// The first value, in device memory.
    [[nodiscard]] T* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }

    /// `from` has size() values, in host memory. Waits.
    void copy_from(std::span<T const> from)
    {
      detail::copy_to_device(data_, from.data(), size_ * sizeof(T));
    }
    /// `to` has size() values, in host memory. Waits for what the default stream was given before.
    void copy_to(std::span<T> to) const
    {
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
    /// n values a column, not initialised. Throws error when the device has no memory for them.
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
    [[nodiscard]] soa<T, N> view() const
    {
      std::array<T*, N> pointers;
      for (int c = 0; c < N; ++c) pointers[c] = columns_[c].data();
      return {pointers, size()};
    }
    /// Into columns of size() values in host memory.
    void copy_to(soa<T, N> const& to) const
    {
      for (int c = 0; c < N; ++c) columns_[c].copy_to({to[c], size()});
    }

  private:
    std::array<device_array<T>, N> columns_;
  };
}
