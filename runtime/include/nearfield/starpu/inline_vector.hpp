#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace nearfield::starpu::detail
{
  /// A vector whose first N elements take no memory but its own: what each task needs, of which
  /// there are many.
  template <class T, std::size_t N>
  requires std::is_trivially_copyable_v<T>
  class inline_vector
  {
  public:
    inline_vector() = default;
    template <class Iterator>
    inline_vector(Iterator first, Iterator last)
    {
      for (; first != last; ++first) push_back(*first);
    }

    void push_back(T const& value)
    {
      if (size_ < N)
        first_[size_] = value;
      else
      {
        if (size_ == N) all_.assign(first_, first_ + N);
        all_.push_back(value);
      }
      ++size_;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T const* data() const { return size_ > N ? all_.data() : first_; }
    [[nodiscard]] T const* begin() const { return data(); }
    [[nodiscard]] T const* end() const { return data() + size_; }

  private:
    T first_[N]{};
    std::vector<T> all_; ///< where there are more than N
    std::size_t size_ = 0;
  };
}
