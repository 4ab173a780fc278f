#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/search/slabs.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

/// \file
/// A radius search into arrays of the caller's: count, allocate, fill.

namespace nearfield
{
  /// The order of the pairs of a list.
  enum class pair_order
  {
    cells, ///< by the position of i, then by the position of j: that of to_coo; threads count first
    rows,  ///< by i, then by the position of j: that of to_csr; takes a count first
    sorted ///< by i, then by j; takes a count first; full lists only
  };

  namespace detail
  {
    /// A column of indices of 32 or 64 bits, with or without sign.
    class index_column
    {
    public:
      index_column() = default;
      /// One of several columns, such as those of a matrix with a pair in each row.
      template <std::integral I, int N>
        requires(sizeof(I) == 4 || sizeof(I) == 8)
      index_column(strided<I, N> const& of, int column)
          : first_(of[column].first), stride_(of.stride()), size_(of.size()), bytes_(sizeof(I))
      {}
      template <std::integral I>
      index_column(strided<I, 1> const& of) : index_column(of, 0) // NOLINT
      {}
      template <std::integral I>
      index_column(soa<I, 1> const& of) : index_column(strided<I, 1>(of), 0) // NOLINT
      {}

      [[nodiscard]] std::size_t size() const { return size_; }
      [[nodiscard]] bool is_null() const { return size_ > 0 && first_ == nullptr; }

      /// Calls f(column) with the column as one of unsigned numbers.
      template <class F>
      void with_values(F const& f) const
      {
        if (bytes_ == 8)
          f(strided_column<std::uint64_t>{static_cast<std::uint64_t*>(first_), stride_});
        else if (size_ > 0)
          f(strided_column<std::uint32_t>{static_cast<std::uint32_t*>(first_), stride_});
      }

    private:
      void* first_ = nullptr;
      std::ptrdiff_t stride_ = 1;
      std::size_t size_ = 0;
      int bytes_ = 4;
    };
  }

  /// Writes the pairs (i, j, S) within the cutoff to columns of yours, of any stride. Those that are not given are not
  /// written; all others have one size, that of the list. Indices have 32 or 64 bits.
  ///
  ///     auto const n = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{nearfield::pairs::full});
  ///     std::vector<std::int64_t> ij(2 * n.total);   // (n, 2)
  ///     auto const both = nearfield::interleaved<2>(ij);
  ///     nearfield::radius_search(nearfield::simd, cells, nearfield::to_arrays<double, 3>{.i = {both, 0}, .j = {both, 1}});
  template <class T, int Dim>
  struct to_arrays
  {
    pairs which = pairs::full;                    ///< which pairs are listed
    pair_order order = pair_order::cells;         ///< in which order
    detail::index_column i = {};                  ///< indices of the targets
    detail::index_column j = {};                  ///< indices of the sources
    strided<T, 1> r2 = {};                        ///< squared distances, length^2
    strided<T, 1> r = {};                         ///< distances, the square root of r2
    strided<T, Dim> displacements = {};           ///< x_i - (x_j + sum_a S_a vectors[a]), length^1
    strided<T, Dim> to_j = {};                    ///< the opposite, from i to j
    strided<std::int32_t, Dim> images = {};       ///< S
    strided<std::uint32_t, 1> packed_images = {}; ///< S, as image_columns::packed
  };

  namespace detail
  {
    /// The size of the columns that are given; 0 for none. Throws nearfield::error if they differ or are null.
    template <class T, int Dim>
    NEARFIELD_API std::uint64_t checked_size(to_arrays<T, Dim> const& what);

    /// The body of radius_search(). Returns the number of pairs.
    template <class T, int Dim>
    NEARFIELD_API std::uint64_t write_arrays(executor* threads, isa where,
                                             cell_view<T, Dim> const& cells,
                                             to_arrays<T, Dim> const& what);
  }

  /// Returns the number of pairs, and writes as many as the columns have room for: those that come first. Throws
  /// nearfield::error for columns that differ in size or are null, a half list of two sets, a half list in the order
  /// `sorted`, and an S that packed_images cannot hold. The columns then hold some of the pairs.
  template <detail::cpu_place On, detail::has_cell_view Cells, class T, int Dim>
  std::uint64_t radius_search(On const& where, Cells const& cells, to_arrays<T, Dim> const& what)
  {
    return detail::write_arrays<T, Dim>(detail::threads_of(where), detail::isa_of(where),
                                        cells.view(), what);
  }
}
