#pragma once

#include <nearfield/core/config.hpp>
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
      requires(sizeof...(Columns) == N && (std::ranges::borrowed_range<Columns> && ...))
    constexpr explicit(false) soa(Columns&&... columns) : columns_{std::ranges::data(columns)...}
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
    /// The N pointers to the columns; they live as long as this view.
    [[nodiscard]] constexpr T* const* data() const { return columns_.data(); }

  private:
    std::array<T*, N> columns_{};
    std::size_t size_ = 0;
  };

  /// For soa: the number of columns is known at run time only.
  inline constexpr int run_time_columns = -1;

  /// Columns whose number is known at run time only, such as those of as many right-hand sides as a file has. The
  /// pointers to the columns are the caller's and must outlive the view: data() of a temporary soa does not.
  ///
  ///     std::vector<double const*> const charges{q1.data(), q2.data(), q3.data()};
  ///     nearfield::soa<double const, nearfield::run_time_columns> const q{charges, q1.size()};
  template <class T>
  struct soa<T, run_time_columns>
  {
    using value_type = T; ///< of the columns, const if they are read-only
    static constexpr int n_columns = run_time_columns; ///< width() says how many

    constexpr soa() = default;
    /// From pointers to the first values of columns of `size` values each.
    constexpr soa(std::span<T* const> columns, std::size_t size) : columns_(columns), size_(size) {}
    /// Deleted: the pointers of a temporary would be gone before the view.
    template <class Pointers>
      requires(!std::ranges::borrowed_range<Pointers> &&
               std::convertible_to<Pointers&, std::span<T* const>>) //
    soa(Pointers&& give_the_pointers_a_name, std::size_t size) = delete;

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

  /// One column per range, with the element type of the first; const if that of any is.
  template <std::ranges::contiguous_range First, std::ranges::contiguous_range... Rest>
  soa(First&&, Rest&&...)
      -> soa<std::conditional_t<(std::is_const_v<detail::element_of<Rest>> || ...),
                                detail::element_of<First> const, detail::element_of<First>>,
             1 + sizeof...(Rest)>;

  namespace detail
  {
    /// One column of a strided view: value i is first[i * stride].
    template <class T>
    struct strided_column
    {
      T* first;              ///< the address of value 0
      std::ptrdiff_t stride; ///< from one value to the next, in values

      /// value i
      constexpr T& operator[](std::size_t i) const
      {
        return first[static_cast<std::ptrdiff_t>(i) * stride];
      }
    };
  }

  /// A non-owning view of N columns whose values lie `stride()` values apart, such as those of an array x0 y0 z0
  /// x1 y1 z1 ... (interleaved()) or of a matrix (matrix_columns()): value i of column c is
  /// columns()[c][i * stride()]. Whatever takes a soa takes it too, with the same results to the bit, on CPUs and
  /// GPUs; only tasks of starpu::p2p take handles, of columns without stride.
  ///
  /// N may be run_time_columns. T is const if the values are read-only. A soa converts to a view of stride 1.
  template <class T, int N>
  class strided
  {
  public:
    using value_type = T;               ///< of the columns, const if they are read-only
    static constexpr int n_columns = N; ///< N

    constexpr strided() = default;
    /// From the pointers of `first` to the first values of columns, its size, which is the number of points, and
    /// the values from one point to the next. Throws nearfield::error unless that is at least 1.
    constexpr strided(soa<T, N> const& first, std::ptrdiff_t stride)
        : columns_(first), stride_(stride)
    {
      if (stride < 1)
        throw error("strided: the stride is " + std::to_string(stride) +
                    "; give the values from one point to the next, at least 1");
    }

    /// A soa has stride 1.
    template <class U>
      requires(std::is_convertible_v<soa<U, N>, soa<T, N>>)
    constexpr strided(soa<U, N> const& columns) // NOLINT(google-explicit-constructor)
        : columns_(columns)
    {}

    /// read-only view of the same columns
    constexpr operator strided<T const, N>() const // NOLINT(google-explicit-constructor)
      requires(!std::is_const_v<T>)
    {
      return {columns_, stride_};
    }

    /// The number of values in each column.
    [[nodiscard]] constexpr std::size_t size() const { return columns_.size(); }
    /// From one value of a column to the next, in values.
    [[nodiscard]] constexpr std::ptrdiff_t stride() const { return stride_; }
    /// A column.
    [[nodiscard]] constexpr detail::strided_column<T> operator[](int column) const
    {
      return {columns_[column], stride_};
    }
    /// The pointers to the first values of the columns.
    [[nodiscard]] constexpr soa<T, N> const& columns() const { return columns_; }

  private:
    soa<T, N> columns_;
    std::ptrdiff_t stride_ = 1;
  };

  namespace detail
  {
    template <class V>
    inline constexpr bool is_columns_view = false;
    template <class T, int N>
    inline constexpr bool is_columns_view<soa<T, N>> = true;
    template <class T, int N>
    inline constexpr bool is_columns_view<strided<T, N>> = true;

    /// soa or strided.
    template <class V>
    concept columns_view = is_columns_view<V>;

    /// The type of the values of a view, without const.
    template <columns_view V>
    using value_of = std::remove_const_t<typename V::value_type>;
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// How many columns a view has.
    template <columns_view View>
    constexpr int width_of(View const& view)
    {
      if constexpr (View::n_columns != run_time_columns)
        return View::n_columns;
      else if constexpr (requires { view.width(); })
        return view.width();
      else
        return view.columns().width();
    }

    template <class View>
    inline constexpr bool is_strided = false;
    template <class T, int N>
    inline constexpr bool is_strided<strided<T, N>> = true;

    /// The pointers to the first values of the columns.
    template <columns_view View>
    constexpr auto const& pointers_of(View const& view)
    {
      if constexpr (is_strided<View>)
        return view.columns();
      else
        return view;
    }

    /// From one value of a column to the next, in values.
    template <columns_view View>
    constexpr std::ptrdiff_t stride_of(View const& view)
    {
      if constexpr (is_strided<View>)
        return view.stride();
      else
        return 1;
    }

    /// Columns of which the compiler knows neither number nor stride.
    template <class T>
    using any_columns = strided<T, run_time_columns>;
    template <columns_view View>
    any_columns<typename View::value_type> any_columns_of(View const& view)
    {
      using T = typename View::value_type;
      auto const& pointers = pointers_of(view);
      return {soa<T, run_time_columns>({pointers.data(), static_cast<std::size_t>(width_of(view))},
                                       view.size()),
              stride_of(view)};
    }
  }

  /// The first N columns of a matrix of `rows` points: value i of column c is
  /// first[i * row_stride + c * column_stride]. Strides are counted in values, so that fields of a struct are
  /// columns too if its size is a multiple of theirs.
  ///
  ///     auto const x = nearfield::matrix_columns<3>(m.data(), m.rows(), m.outerStride(), 1);     // row by row
  ///     auto const x = nearfield::matrix_columns<3>(m.data(), m.rows(), 1, m.outerStride());     // column by column
  ///     auto const v = nearfield::matrix_columns<3>(&particles[0].vx, n, sizeof(particle) / sizeof(double), 1);
  ///
  /// Throws nearfield::error unless row_stride is at least 1.
  template <int N, class T>
  [[nodiscard]] constexpr strided<T, N> matrix_columns(T* first, std::size_t rows,
                                                       std::ptrdiff_t row_stride,
                                                       std::ptrdiff_t column_stride)
  {
    std::array<T*, N> columns;
    for (int c = 0; c < N; ++c) columns[c] = first == nullptr ? nullptr : first + c * column_stride;
    return {soa<T, N>(columns, rows), row_stride};
  }

  /// The columns of an array that holds point after point, such as x0 y0 z0 x1 y1 z1 ... for N = 3: value i of
  /// column c is values[i * N + c].
  ///
  ///     std::vector<double> xyz(3 * n), forces(3 * n);
  ///     auto const x = nearfield::interleaved<3>(xyz);
  ///
  /// `values` is a contiguous range, which must outlive the view. Throws nearfield::error if its size is no multiple
  /// of N.
  template <int N, std::ranges::contiguous_range Values>
    requires std::ranges::borrowed_range<Values>
  [[nodiscard]] constexpr auto interleaved(Values&& values)
  {
    auto const size = static_cast<std::size_t>(std::ranges::size(values));
    if (size % N != 0)
      throw error("interleaved: found " + std::to_string(size) + " values; give " +
                  std::to_string(N) + " for each point");
    return matrix_columns<N>(std::ranges::data(values), size / N, N, 1);
  }

  /// Columns that own their memory; converts to the views that kernels take.
  template <class T, int N>
  struct column_set
  {
    std::array<std::vector<T>, N> columns; ///< of equal length

    /// The number of values in each column.
    [[nodiscard]] std::size_t size() const { return columns[0].size(); }
    /// Read-only view of the columns.
    [[nodiscard]] soa<T const, N> view() const& { return {pointers<T const>(columns), size()}; }
    /// Writable view of the columns.
    [[nodiscard]] soa<T, N> view() & { return {pointers<T>(columns), size()}; }
    /// Does not compile: the columns would end before the view. Not deleted, since compilers then list all three.
    template <class Columns = column_set>
    soa<T, N> view() const&&
    {
      static_assert(sizeof(Columns) == 0, "give the columns a name, which outlives the view");
      return {};
    }

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
