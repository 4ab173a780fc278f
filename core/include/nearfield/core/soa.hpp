#pragma once

#include <nearfield/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <type_traits>

namespace nearfield
{
  namespace detail
  {
    template <class R>
    using element_of = std::remove_pointer_t<decltype(std::ranges::data(std::declval<R&>()))>;
  }

  /// A structure of arrays that owns nothing: N columns of `size()` values each.
  ///
  ///     nearfield::soa positions{x, y, z};     // three vectors, spans, arrays ... of equal length
  ///
  /// T is const where the columns are. Throws error when the columns differ in length.
  template <class T, int N>
  struct soa
  {
    using value_type = T;               ///< of the columns, const where they are read only
    static constexpr int n_columns = N; ///< N

    constexpr soa() = default;
    /// The columns from their first values, all of `size` values.
    constexpr soa(std::array<T*, N> const& columns, std::size_t size)
        : columns_(columns), size_(size)
    {}

    /// From contiguous ranges of equal length, which must outlive the view. Throws error where the
    /// lengths differ.
    // borrowed: a column that dies with the expression would leave the view dangling
    template <std::ranges::contiguous_range... Columns>
    requires(sizeof...(Columns) == N && (std::ranges::borrowed_range<Columns> &&
                                         ...)) constexpr explicit(false) soa(Columns&&... columns)
        : columns_{std::ranges::data(columns)...}
    {
      std::size_t const sizes[] = {static_cast<std::size_t>(std::ranges::size(columns))...};
      size_ = sizes[0];
      for (int c = 1; c < N; ++c)
        if (sizes[c] != size_)
          throw error("soa: column " + std::to_string(c) + " has " + std::to_string(sizes[c]) +
                      " values, column 0 has " + std::to_string(size_) +
                      "; give columns of equal length");
    }

    /// read-only view of the same columns
    constexpr operator soa<T const, N>() const // NOLINT(google-explicit-constructor)
        requires(!std::is_const_v<T>)
    {
      std::array<T const*, N> columns;
      for (int c = 0; c < N; ++c) columns[c] = columns_[c];
      return {columns, size_};
    }

    /// The number of values in each column.
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    /// The first value of a column.
    [[nodiscard]] constexpr T* operator[](int column) const { return columns_[column]; }
    /// The columns, N pointers.
    [[nodiscard]] constexpr T* const* data() const { return columns_.data(); }

  private:
    std::array<T*, N> columns_{};
    std::size_t size_ = 0;
  };

  /// As many columns as ranges are given, of their values.
  template <std::ranges::contiguous_range First, std::ranges::contiguous_range... Rest>
  soa(First&&, Rest&&...) -> soa<detail::element_of<First>, 1 + sizeof...(Rest)>;
}
