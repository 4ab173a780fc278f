#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace nearfield
{
  namespace detail
  {
    /// Address space that becomes memory page by page, when first written; below 2 MiB, memory from operator new.
    /// Starts at a multiple of 64 bytes. Null if the system refuses.
    NEARFIELD_API void* reserve_pages(std::size_t bytes) noexcept;
    /// Grows or shrinks a reservation, and may move it; returns its place. Null if the system
    /// refuses, with nothing changed.
    NEARFIELD_API void* resize_pages(void* pages, std::size_t from_bytes,
                                     std::size_t to_bytes) noexcept;
    NEARFIELD_API void release_pages(void* pages, std::size_t bytes) noexcept;
  }

  /// An array of plain values that owns its memory and does not initialise it.
  ///
  /// Its capacity is address space, which becomes memory when written: a search reserves the most that it may
  /// need, writes in one pass, and the array takes memory only for what was found. An array below 2 MiB comes from
  /// operator new. data() is a multiple of 64 bytes.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  class page_array
  {
  public:
    using value_type = T; ///< the type of the values

    page_array() = default;
    /// Takes the memory of `other`.
    page_array(page_array&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0))
    {}
    /// Swaps memory with `other`.
    page_array& operator=(page_array&& other) noexcept
    {
      std::swap(data_, other.data_);
      std::swap(size_, other.size_);
      std::swap(capacity_, other.capacity_);
      return *this;
    }
    ~page_array() { detail::release_pages(data_, capacity_ * sizeof(T)); }

    /// Pointer to the first value; null if nothing was reserved.
    [[nodiscard]] T* data() { return data_; }
    /// Pointer to the first value; null if nothing was reserved.
    [[nodiscard]] T const* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Whether size() is 0.
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// The largest size that resize() can set without asking the system.
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    /// Value i < size(), not checked.
    [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
    /// Value i < size(), not checked.
    [[nodiscard]] T const& operator[](std::size_t i) const { return data_[i]; }
    /// Iterator to the first value.
    [[nodiscard]] T* begin() { return data_; }
    /// Iterator past the last value.
    [[nodiscard]] T* end() { return data_ + size_; }
    /// Iterator to the first value.
    [[nodiscard]] T const* begin() const { return data_; }
    /// Iterator past the last value.
    [[nodiscard]] T const* end() const { return data_ + size_; }

    /// Makes room for n values and keeps those that are there. False if the system refuses.
    [[nodiscard]] bool try_reserve(std::size_t n)
    {
      if (n <= capacity_) return true;
      if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) return false;
      void* const pages = data_ ? detail::resize_pages(data_, capacity_ * sizeof(T), n * sizeof(T))
                                : detail::reserve_pages(n * sizeof(T));
      if (!pages) return false;
      data_ = static_cast<T*>(pages);
      capacity_ = n;
      return true;
    }

    /// Sets the size to n; new values are not initialised. Throws nearfield::error if the system refuses.
    void resize(std::size_t n)
    {
      if (!try_reserve(n))
        throw error("page_array: the system cannot provide " + std::to_string(n * sizeof(T)) +
                        " bytes; use a smaller cutoff or fewer points",
                    error_kind::out_of_memory);
      size_ = n;
    }

    /// Releases the capacity after the last value.
    void shrink_to_fit()
    {
      if (size_ == 0)
      {
        detail::release_pages(data_, capacity_ * sizeof(T));
        data_ = nullptr;
        capacity_ = 0;
      }
      else if (void* const pages =
                   detail::resize_pages(data_, capacity_ * sizeof(T), size_ * sizeof(T)))
      {
        data_ = static_cast<T*>(pages);
        capacity_ = size_;
      }
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
  };
}
