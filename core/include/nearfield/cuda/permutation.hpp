#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>

/// \file
/// Columns in device memory brought into the order of a tree, and back: gather and scatter of
/// <nearfield/tree/permutation.hpp> with `cuda` as the first argument. `order` and the columns are in the memory of
/// the current device. A call returns once the work is in the stream.

namespace nearfield
{
  namespace detail
  {
    /// to[c][i] = from[c][order[i]] for i < n, or from[c][i] without an order; columns of device memory. For float and
    /// double.
    template <class T>
    NEARFIELD_API void device_gather(cuda_stream stream, index_type const* order, std::size_t n,
                                     any_columns<T const> const& from, any_columns<T> const& to);
    /// columns[c][i] += moves[order[i]][c] for i < n and the first three columns, computed in double; for float and double.
    template <class T>
    NEARFIELD_API void device_move(cuda_stream stream, index_type const* order, std::size_t n,
                                   std::array<double, 3> const* moves,
                                   any_columns<T> const& columns);
    /// Rows from `row` on, up to that of the next run: row r comes from place + (r - row).
    struct row_run
    {
      index_type row, place;
    };
    /// to[c][i] = from[c][p] with the place p of row first_row + i, for i < n. Runs ascend by row, and the first begins at
    /// first_row or before it. Runs are in device memory; otherwise as device_gather().
    template <class T>
    NEARFIELD_API void device_gather_runs(cuda_stream stream, row_run const* runs,
                                          std::size_t n_runs, index_type first_row, std::size_t n,
                                          any_columns<T const> const& from,
                                          any_columns<T> const& to);
    /// to[c][order[i]] = from[c][i], or += to accumulate; to[c][i] without an order
    template <class T>
    NEARFIELD_API void device_scatter(cuda_stream stream, index_type const* order, std::size_t n,
                                      any_columns<T const> const& from, any_columns<T> const& to,
                                      bool accumulate);

    /// Columns in pieces of 2^shift rows: row r of column c is first[k][c * rows[k] + r % 2^shift] with k = r / 2^shift.
    template <class T>
    struct column_pieces
    {
      static constexpr index_type most = 16;
      T* first[most];
      index_type rows[most]; ///< from one column of a piece to the next
      int shift;
    };
    inline constexpr index_type no_row = ~index_type(0);
    /// Copies row order[i] of pieces to row i of columns that begin `stride` values after one another, for i < n, unless
    /// order[i] is no_row. All are device pointers. For float and double.
    template <class T>
    NEARFIELD_API void device_gather_from_pieces(cuda_stream stream, index_type const* order,
                                                 std::size_t n, column_pieces<T> const& from, T* to,
                                                 std::size_t stride, int n_columns);
    /// Copies rows of such columns to pieces.
    template <class T>
    NEARFIELD_API void device_scatter_to_pieces(cuda_stream stream, index_type const* order,
                                                std::size_t n, T const* from, std::size_t stride,
                                                column_pieces<T> const& to, int n_columns);

    template <class From, class To>
    void check_permuted(char const* function, std::size_t n, From const& from, To const& to)
    {
      if (from.size() != n || to.size() != n)
        throw error(std::string(function) + ": found columns of " + std::to_string(from.size()) +
                    " and " + std::to_string(to.size()) + " values for an order of " +
                    std::to_string(n) + "; give one value per point");
      if (width_of(from) != width_of(to))
        throw error(std::string(function) + ": from has " + std::to_string(width_of(from)) +
                    " columns, to has " + std::to_string(width_of(to)) + "; give as many");
      for (int c = 0; n > 0 && c < width_of(from); ++c)
        if (pointers_of(from)[c] == nullptr || pointers_of(to)[c] == nullptr ||
            pointers_of(from)[c] == pointers_of(to)[c])
          throw error(std::string(function) + ": column " + std::to_string(c) +
                      " is null, or the same in both; give two columns");
    }
  }

  /// to[c][i] = from[c][order[i]]: from the original order into that of the tree. Throws nearfield::error if the
  /// sizes or the numbers of columns differ, for null columns and for a column in its own place, and if CUDA refuses the
  /// launch.
  template <detail::columns_view From, detail::columns_view To>
  void gather(cuda_backend where, std::span<index_type const> order, From const& from, To const& to)
  {
    detail::check_permuted("gather", order.size(), from, to);
    detail::device_gather<detail::value_of<From>>(where.stream, order.data(), order.size(),
                                                  detail::any_columns_of(from),
                                                  detail::any_columns_of(to));
  }

  /// to[c][order[i]] = from[c][i]: from the order of the tree back into the original one. Errors are those of gather.
  template <detail::columns_view From, detail::columns_view To>
  void scatter(cuda_backend where, std::span<index_type const> order, From const& from,
               To const& to)
  {
    detail::check_permuted("scatter", order.size(), from, to);
    detail::device_scatter<detail::value_of<From>>(where.stream, order.data(), order.size(),
                                                   detail::any_columns_of(from),
                                                   detail::any_columns_of(to), false);
  }
}
