#pragma once

#include <nearfield/cuda/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace nearfield::detail
{
  void* pinned_allocate(std::size_t bytes);
  void pinned_free(void* memory) noexcept;

  /// A value in pinned memory of the host, where kernels write to it.
  template <class T>
  class pinned
  {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    pinned() : value_(new (pinned_allocate(sizeof(T))) T{}) {}
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
    ~pinned() { pinned_free(value_); }

    [[nodiscard]] T& operator*() const { return *value_; }
    [[nodiscard]] T* operator->() const { return value_; }

  private:
    T* value_;
  };

  /// Returns when a kernel of the stream has written this pinned word, 0 before, and what it wrote there
  /// before it can be read. The stream may have more to do: neither that nor a copy is waited for.
  void wait_for_word(std::uint32_t const volatile& word, cuda_stream stream);

  /// Of the current device.
  unsigned multiprocessors();
}
