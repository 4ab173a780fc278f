#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace nearfield::detail
{
  void* pinned_allocate(std::size_t bytes, char const* what);
  void pinned_free(void* memory) noexcept;
  /// Whether the first and the last of these bytes of the host, which are one or more, are pinned, by whomever.
  NEARFIELD_API bool is_pinned(void const* memory, std::size_t bytes) noexcept;

  /// A value in pinned host memory, which kernels write; there from the first use on, since that takes a millisecond.
  template <class T>
  class pinned
  {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    explicit pinned(char const* what) : what_(what) {}
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
    ~pinned()
    {
      if (value_) pinned_free(value_);
    }

    [[nodiscard]] T& operator*() const { return *get(); }
    [[nodiscard]] T* operator->() const { return get(); }

  private:
    T* get() const
    {
      if (!value_) value_ = new (pinned_allocate(sizeof(T), what_)) T{};
      return value_;
    }

    char const* what_;
    mutable T* value_ = nullptr;
  };

  /// Returns when a kernel of the stream has written this pinned word, which was 0; what that kernel wrote
  /// before it can then be read. It does not wait for later work in the stream. `what` starts the message if
  /// the kernel fails.
  void wait_for_word(std::uint32_t const volatile& word, cuda_stream stream, char const* what);
}
