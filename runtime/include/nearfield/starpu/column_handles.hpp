#pragma once

#include <starpu.h>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::starpu
{
  namespace detail
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
      void clear() { size_ = 0; }

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

  /// What a P2P task takes for x, q or out: one handle, or one for each column; all of a task alike.
  ///
  ///     p2p.insert_inner(x, q, out);                     // packed: x holds dim columns one after the other
  ///     p2p.insert_inner({hx, hy, hz}, {hq}, {hphi});    // columns, of vectors that you have already
  class column_handles
  {
  public:
    /// A packed handle.
    template <std::convertible_to<starpu_data_handle_t> Handle>
    column_handles(Handle const& packed) // NOLINT(google-explicit-constructor)
    {
      handles_.push_back(packed);
    }
    /// Those of the columns, in their order; of several right-hand sides behind one another.
    column_handles(std::initializer_list<starpu_data_handle_t> columns)
        : handles_(columns.begin(), columns.end())
    {}
    /// The same, of a vector of nearfield::starpu::handle, of an array ...
    template <std::ranges::input_range Columns>
    requires std::convertible_to<std::ranges::range_reference_t<Columns const&>,
                                 starpu_data_handle_t>
    column_handles(Columns const& columns) // NOLINT(google-explicit-constructor)
        : handles_(std::ranges::begin(columns), std::ranges::end(columns))
    {}

    /// the handles
    [[nodiscard]] std::span<starpu_data_handle_t const> get() const
    {
      return {handles_.begin(), handles_.end()};
    }

  private:
    detail::inline_vector<starpu_data_handle_t, 8> handles_;
  };
}
