#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cuda.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

/// \file
/// Fixed-radius search on a GPU: radius_search with `cuda` as its first argument, over a cell list of points in
/// device memory, for counts, COO and CSR lists, tables, and columns that you give. The pairs and their order are bit for bit those
/// of the CPU (<nearfield/search/pairs.hpp>).
///
///     nearfield::cuda_cell_list cells{nearfield::cuda, nearfield::soa{x, y, z}, cutoff};
///     nearfield::device_coo const list =
///         nearfield::radius_search(nearfield::cuda, cells, nearfield::to_coo{});
///
/// A search waits for its counts, allocates what was found, and returns when the rest of the work is in the
/// stream. It waits by polling words in pinned memory, which saves some microseconds per search. A cell list is
/// searched on the stream that it was built on, by one thread at a time.

namespace nearfield
{
  /// The result of count_pairs; per_point is in device memory.
  struct NEARFIELD_API device_counts
  {
    std::uint64_t total = 0; ///< the number of pairs
    /// by index; empty unless asked for
    device_array<index_type> per_point;

    /// Copies the counts to the host; waits for the stream.
    [[nodiscard]] pair_counts to_host() const;
  };

  namespace detail
  {
    /// r2, x_i - x_j and the image of every entry of a list, in device memory; empty unless asked for.
    template <class T, int Dim>
    struct device_pair_geometry
    {
      device_array<T> r2;                                 ///< length^2
      std::array<device_array<T>, Dim> displacements;     ///< length^1, one column per axis
      std::array<device_array<std::int32_t>, Dim> images; ///< S, one column per axis
      device_array<std::uint32_t> packed_images;          ///< S, packed
    };
  }

  /// The result of to_coo, in device memory: pair p is (i[p], j[p]).
  template <class T, int Dim>
  struct NEARFIELD_API device_coo : detail::device_pair_geometry<T, Dim>
  {
    device_array<index_type> i; ///< indices of the targets
    device_array<index_type> j; ///< indices of the sources

    /// The number of pairs.
    [[nodiscard]] std::size_t size() const { return i.size(); }
    /// Copies the list to the host; waits for the stream.
    [[nodiscard]] coo<T, Dim> to_host() const;
  };

  /// The result of to_csr, in device memory: row i is columns[offsets[i]] ... columns[offsets[i + 1] - 1].
  template <class T, int Dim>
  struct NEARFIELD_API device_csr : detail::device_pair_geometry<T, Dim>
  {
    device_array<std::uint64_t> offsets; ///< one more than rows
    device_array<index_type> columns;    ///< indices of the sources, row by row

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return offsets.size() == 0 ? 0 : offsets.size() - 1; }
    /// Copies the list to the host; waits for the stream.
    [[nodiscard]] csr<T, Dim> to_host() const;
  };

  /// The result of to_table, in device memory: entry k of row i is columns[i * width + k].
  struct NEARFIELD_API device_table
  {
    index_type width = 0; ///< entries of a row
    /// some row has more points than entries; counts are still right
    bool overflow = false;
    device_array<index_type> counts;  ///< the number of points of each row, also beyond width
    device_array<index_type> columns; ///< indices of the sources

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return counts.size(); }
    /// Copies the table to the host; waits for the stream.
    [[nodiscard]] neighbour_table to_host() const;
  };

  /// Writes the rows of a table to device memory of yours, without a wait: a CUDA graph that has captured it writes them
  /// again. Rows are those of to_table; all are in the order of the arrays that were given.
  struct NEARFIELD_API to_rows
  {
    pairs which = pairs::full; ///< which pairs are listed
    /// Entries of a row; 0: rows are only counted.
    index_type width = 0;
    /// The number of points of each row, also beyond width; one for each target.
    std::span<index_type> counts;
    /// Entry k of row i becomes columns[i * width + k]. Those after the last point of a row stay as they are.
    std::span<index_type> columns;
    /// Becomes the number of points of the longest row, if that is more than width, and otherwise 0; null: not asked for.
    /// Without a width it becomes 0.
    index_type* longest = nullptr;
  };

  namespace detail
  {
    NEARFIELD_API void check_same_stream(cuda_stream where, cuda_stream of_list);

    // what a search for `what` gives
    template <class T, int Dim>
    device_counts device_result(count_pairs const& what);
    template <class T, int Dim>
    device_coo<T, Dim> device_result(to_coo const& what);
    template <class T, int Dim>
    device_csr<T, Dim> device_result(to_csr const& what);
    template <class T, int Dim>
    device_table device_result(to_table const& what);
    template <class T, int Dim>
    void device_result(to_rows const& what);
    template <class T, int Dim>
    std::uint64_t device_result(to_arrays<T, Dim> const& what);

    /// to_arrays whose number of pairs goes to device memory.
    template <class T, int Dim>
    struct NEARFIELD_API counted_on_device
    {
      to_arrays<T, Dim> to;
      std::uint64_t* n_pairs;
    };

    /// filter_arrays in device memory.
    template <class T>
    struct device_filter
    {
      device_array<index_type> types, query_types;
      device_array<T> squares, radii, query_radii;
      device_array<std::uint64_t> excluded_offsets;
      device_array<index_type> excluded;
      device_array<unsigned char> wanted;
      std::uint32_t n_types;
      cutoff_by by;
      bool is_closed;

      device_filter(filter_arrays<T> const& of, cuda_stream stream)
          : types(of.types, stream), query_types(of.query_types, stream),
            squares(of.squares, stream), radii(of.radii, stream),
            query_radii(of.query_radii, stream), excluded_offsets(of.excluded_offsets, stream),
            excluded(of.excluded, stream), wanted(of.wanted, stream),
            n_types(static_cast<std::uint32_t>(of.n_types)), by(of.by), is_closed(of.is_closed)
      {}
    };

    // a shared library shows it, since it shows its template arguments; a null filter leaves out no pair
    template <class Result, class T, int Dim, class Sink>
    NEARFIELD_API Result device_search(device_cells<T, Dim>& cells, Sink const& what,
                                       device_filter<T> const* filter);
  }

  /// A cuda_cell_list of which only some pairs count, as `filtered` of a CPU (<nearfield/search/radius_search.hpp>); the
  /// arrays of the filter are in host memory, and may be freed afterwards. A search tests each pair within the cutoff once
  /// more, by what the filter says. It refers to the cells.
  template <class T, int Dim>
  class cuda_filtered
  {
  public:
    /// Throws nearfield::error as `filtered` does, and for too little memory on the device.
    cuda_filtered(cuda_cell_list<T, Dim>& cells, pair_filter<T> const& which)
        : cells_(&cells),
          filter_(which, cells.n_targets(), cells.n_sources(), cells.has_one_set(), limit(cells)),
          on_device_(filter_.arrays(), cells.stream())
    {}

    /// The cells, for a search of pairs that the filter allows.
    [[nodiscard]] cuda_cell_list<T, Dim>& cells(pairs which) const
    {
      T least = std::numeric_limits<T>::infinity();
      for (std::size_t s = 0; s < cells_->n_systems(); ++s)
        least = std::min(least, cells_->cutoff(s));
      filter_.check(which, cells_->n_targets(), cells_->n_sources(), least);
      return *cells_;
    }
    /// For radius_search.
    [[nodiscard]] detail::device_filter<T> const& on_device() const { return on_device_; }

  private:
    static detail::cutoff_limit<T> limit(cuda_cell_list<T, Dim> const& cells)
    {
      return detail::limit_of<T>(cells.n_systems(),
                                 [&](std::size_t s) -> auto const& { return cells.grid(s); });
    }

    cuda_cell_list<T, Dim>* cells_;
    detail::row_filter<T> filter_;
    detail::device_filter<T> on_device_;
  };

  /// All pairs closer than the cutoff: `what` is count_pairs, to_coo, to_csr or to_table, and the result is
  /// device_counts, device_coo, device_csr or device_table. With to_arrays it writes columns in device memory and returns the
  /// number of pairs, as on a CPU; to_rows has no result. Deterministic. Of several systems, the list has for each what it
  /// has alone, system after system. Throws nearfield::error for a half list of two sets, a stream other than that of the
  /// list, a result larger than max_bytes, a table of width 0, columns that a CPU refuses, and too little memory on the
  /// device. The cells are not const: a search may free memory that they can make again, or make the order inside cells.
  template <class T, int Dim, class Sink>
  auto radius_search(cuda_backend where, cuda_cell_list<T, Dim>& cells, Sink const& what)
  {
    detail::check_same_stream(where.stream, cells.stream());
    using result = decltype(detail::device_result<T, Dim>(what));
    return detail::device_search<result>(cells.cells(), what,
                                         static_cast<detail::device_filter<T> const*>(nullptr));
  }

  /// The same of the pairs that count. Also throws nearfield::error if the list has other points than when it was filtered,
  /// and for half lists as a search of `filtered` does.
  template <class T, int Dim, class Sink>
  auto radius_search(cuda_backend where, cuda_filtered<T, Dim> const& some, Sink const& what)
  {
    auto& cells = some.cells(what.which);
    detail::check_same_stream(where.stream, cells.stream());
    using result = decltype(detail::device_result<T, Dim>(what));
    return detail::device_search<result>(cells.cells(), what, &some.on_device());
  }

  /// Writes pairs to columns in device memory, and their number to *n_pairs there, when the stream has done its work; waits
  /// for nothing. Pairs for which there is no room are left out; the number counts them. Takes memory for as many pairs as
  /// the columns have room for. Throws as the search that returns the number, and for `packed_images` if a point was given
  /// more than 127 boxes away, or an image is more than 257.
  ///
  /// A sorted list that does not fit ends within a row, which then holds any of its pairs.
  template <class T, int Dim>
  void radius_search(cuda_backend where, cuda_cell_list<T, Dim>& cells,
                     std::type_identity_t<to_arrays<T, Dim>> const& what, std::uint64_t* n_pairs)
  {
    detail::check_same_stream(where.stream, cells.stream());
    detail::device_search<void>(cells.cells(), detail::counted_on_device<T, Dim>{what, n_pairs},
                                static_cast<detail::device_filter<T> const*>(nullptr));
  }
  /// The same of the pairs that count.
  template <class T, int Dim>
  void radius_search(cuda_backend where, cuda_filtered<T, Dim> const& some,
                     std::type_identity_t<to_arrays<T, Dim>> const& what, std::uint64_t* n_pairs)
  {
    auto& cells = some.cells(what.which);
    detail::check_same_stream(where.stream, cells.stream());
    detail::device_search<void>(cells.cells(), detail::counted_on_device<T, Dim>{what, n_pairs},
                                &some.on_device());
  }

  namespace detail
  {
    template <class List>
    NEARFIELD_API List device_pairs_within(cuda_stream stream, List const& list, double cutoff,
                                           bool closed);
    /// A column without values has no stream.
    template <class V>
    void check_stream_of(device_array<V> const& column, cuda_stream where)
    {
      if (column.size() > 0) check_same_stream(where, column.stream());
    }
  }

  /// The pairs of a list that are closer than a smaller cutoff, as within() of a CPU, on the stream of the list. Waits for
  /// their number.
  template <class T, int Dim>
  [[nodiscard]] device_csr<T, Dim> within(cuda_backend where, device_csr<T, Dim> const& list,
                                          double cutoff, bool closed = false)
  {
    detail::check_stream_of(list.offsets, where.stream);
    return detail::device_pairs_within(where.stream, list, cutoff, closed);
  }
  /// The same of pairs in two columns.
  template <class T, int Dim>
  [[nodiscard]] device_coo<T, Dim> within(cuda_backend where, device_coo<T, Dim> const& list,
                                          double cutoff, bool closed = false)
  {
    detail::check_stream_of(list.i, where.stream);
    return detail::device_pairs_within(where.stream, list, cutoff, closed);
  }
}
