#pragma once

#include <nearfield/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield
{
  namespace detail
  {
    template <class R>
    using element_of = std::remove_pointer_t<decltype(std::ranges::data(std::declval<R&>()))>;
  }

  /// A non-owning structure of arrays: N columns of `size()` values each.
  ///
  ///     nearfield::soa positions{x, y, z};     // three vectors, spans, arrays ... of equal length
  ///
  /// T is const if the columns are. Throws nearfield::error if the columns differ in length.
  template <class T, int N>
  struct soa
  {
    using value_type = T;               ///< of the columns, const if they are read-only
    static constexpr int n_columns = N; ///< N

    constexpr soa() = default;
    /// From pointers to the first values of N columns of `size` values each.
    constexpr soa(std::array<T*, N> const& columns, std::size_t size)
        : columns_(columns), size_(size)
    {}

    /// From contiguous ranges of equal length, which must outlive the view. Throws nearfield::error
    /// if the lengths differ.
    // borrowed ranges only: a temporary column would leave the view dangling
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
    /// Pointer to the first value of a column.
    [[nodiscard]] constexpr T* operator[](int column) const { return columns_[column]; }
    /// The N pointers to the columns.
    [[nodiscard]] constexpr T* const* data() const { return columns_.data(); }

  private:
    std::array<T*, N> columns_{};
    std::size_t size_ = 0;
  };

  /// For soa: the number of columns is known at run time only.
  inline constexpr int run_time_columns = -1;

  /// Columns whose number is known at run time only, such as those of as many right-hand sides as a file has. The
  /// pointers to the columns are the caller's and must outlive the view.
  ///
  ///     std::vector<double const*> const charges{q1.data(), q2.data(), q3.data()};
  ///     nearfield::soa<double const, nearfield::run_time_columns> const q{charges, q1.size()};
  template <class T>
  struct soa<T, run_time_columns>
  {
    using value_type = T; ///< of the columns, const if they are read-only

    constexpr soa() = default;
    /// From pointers to the first values of columns of `size` values each.
    constexpr soa(std::span<T* const> columns, std::size_t size) : columns_(columns), size_(size) {}

    /// read-only view of the same columns
    constexpr operator soa<T const, run_time_columns>() const // NOLINT(google-explicit-constructor)
        requires(!std::is_const_v<T>)
    {
      return {{columns_.data(), columns_.size()}, size_};
    }

    /// The number of columns.
    [[nodiscard]] constexpr int width() const { return static_cast<int>(columns_.size()); }
    /// The number of values in each column.
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    /// Pointer to the first value of a column.
    [[nodiscard]] constexpr T* operator[](int column) const
    {
      return columns_[static_cast<std::size_t>(column)];
    }
    /// The pointers to the columns.
    [[nodiscard]] constexpr T* const* data() const { return columns_.data(); }

  private:
    std::span<T* const> columns_;
    std::size_t size_ = 0;
  };

  /// One column per range, with the element type of the first.
  template <std::ranges::contiguous_range First, std::ranges::contiguous_range... Rest>
  soa(First&&, Rest&&...) -> soa<detail::element_of<First>, 1 + sizeof...(Rest)>;

  /// Columns that own their memory; converts to the views that kernels take.
  template <class T, int N>
  struct column_set
  {
    std::array<std::vector<T>, N> columns; ///< of equal length

    /// The number of values in each column.
    [[nodiscard]] std::size_t size() const { return columns[0].size(); }
    /// Read-only view of the columns.
    [[nodiscard]] soa<T const, N> view() const { return {pointers<T const>(columns), size()}; }
    /// Writable view of the columns.
    [[nodiscard]] soa<T, N> view() { return {pointers<T>(columns), size()}; }

  private:
    template <class U, class Columns>
    static std::array<U*, N> pointers(Columns& columns)
    {
      std::array<U*, N> result;
      for (int c = 0; c < N; ++c) result[c] = columns[c].data();
      return result;
    }
  };
}
