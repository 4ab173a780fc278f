#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  /// Asks for huge pages behind memory that nobody has written to yet. Their first write takes a fifth of the time
  /// that small ones take, of which a tree would otherwise spend a quarter of its time.
  void advise_huge_pages(void* memory, std::size_t bytes) noexcept;

  /// values.reserve(n), in huge pages if it allocates.
  template <class T>
  void reserve_huge_pages(std::vector<T>& values, std::size_t n)
  {
    if (n <= values.capacity()) return;
    values.reserve(n);
    if (values.empty()) advise_huge_pages(values.data(), n * sizeof(T));
  }

  /// Scratch memory in huge pages.
  template <class T>
  class scratch_array
  {
    static_assert(std::is_trivial_v<T>);

  public:
    /// Room for n values, which are not initialised: whoever writes them first pays for their pages.
    void resize(std::size_t n)
    {
      if (n > capacity_)
      {
        size_ = capacity_ = 0;
        values_.reset();
        values_ = std::make_unique_for_overwrite<T[]>(n);
        capacity_ = n;
        advise_huge_pages(values_.get(), n * sizeof(T));
      }
      size_ = n;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T* data() { return values_.get(); }
    [[nodiscard]] std::span<T const> values() const { return {values_.get(), size_}; }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0, capacity_ = 0;
  };
}
