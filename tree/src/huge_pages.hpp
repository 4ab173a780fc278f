#pragma once

#include <cstddef>
#include <vector>

namespace nearfield::detail
{
  /// Asks for huge pages behind memory that nobody has written to yet. Their first write takes a fifth of the time
  /// that small ones take, of which a tree would otherwise spend a quarter of its time.
  void advise_huge_pages(void* memory, std::size_t bytes) noexcept;

  /// vector.reserve(n), in huge pages if it allocates.
  template <class T>
  void reserve_huge_pages(std::vector<T>& values, std::size_t n)
  {
    if (n <= values.capacity()) return;
    values.reserve(n);
    if (values.empty()) advise_huge_pages(values.data(), n * sizeof(T));
  }

  /// vector.resize(n) of scratch memory: if it allocates, in huge pages and without the values of before.
  template <class T>
  void resize_scratch(std::vector<T>& values, std::size_t n)
  {
    if (n > values.capacity()) values.clear();
    reserve_huge_pages(values, n);
    values.resize(n);
  }
}
