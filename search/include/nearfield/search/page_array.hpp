#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/error.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace nearfield
{
  namespace detail
  {
    /// Address space that turns into memory page by page, when it is first written. Null where the system
    /// refuses.
    NEARFIELD_API void* reserve_pages(std::size_t bytes) noexcept;
    /// The same pages, at another place where need be, in a larger or smaller reservation; null, and nothing
    /// has changed, where the system refuses.
    NEARFIELD_API void* resize_pages(void* pages, std::size_t from_bytes,
                                     std::size_t to_bytes) noexcept;
    NEARFIELD_API void release_pages(void* pages, std::size_t bytes) noexcept;
  }

  /// An array of plain values that owns its memory and does not initialise it.
  ///
  /// Its capacity is address space, and becomes memory where it is written: a search reserves what it can
  /// need at most, writes in one pass, and the array takes the memory of what was found.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  class page_array
  {
  public:
    using value_type = T; ///< of the array

    page_array() = default;
    /// Takes the memory of the other one.
    page_array(page_array&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0))
    {}
    /// Exchanges memory with the other one.
    page_array& operator=(page_array&& other) noexcept
    {
      std::swap(data_, other.data_);
      std::swap(size_, other.size_);
      std::swap(capacity_, other.capacity_);
      return *this;
    }
    ~page_array() { detail::release_pages(data_, capacity_ * sizeof(T)); }

    /// The first value; null where nothing was reserved.
    [[nodiscard]] T* data() { return data_; }
    /// The first value; null where nothing was reserved.
    [[nodiscard]] T const* data() const { return data_; }
    /// The number of values.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Whether it has none.
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// The number of values that resize() takes without asking the system.
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    /// Value i < size(), not checked.
    [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
    /// Value i < size(), not checked.
    [[nodiscard]] T const& operator[](std::size_t i) const { return data_[i]; }
    /// The first value.
    [[nodiscard]] T* begin() { return data_; }
    /// Past the last value.
    [[nodiscard]] T* end() { return data_ + size_; }
    /// The first value.
    [[nodiscard]] T const* begin() const { return data_; }
    /// Past the last value.
    [[nodiscard]] T const* end() const { return data_ + size_; }

    /// Room for n values; those that are there stay. False where the system refuses so much.
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

    /// n values; new ones are not initialised. Throws error where the system refuses.
    void resize(std::size_t n)
    {
      if (!try_reserve(n))
        throw error("page_array: the system refuses " + std::to_string(n * sizeof(T)) +
                    " bytes; use a smaller cutoff or fewer points");
      size_ = n;
    }

    /// Gives back what lies behind the last value.
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
