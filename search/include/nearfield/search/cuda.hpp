#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

/// \file
/// Fixed-radius search on a GPU: a cell list of points in device memory, and radius_search with `cuda` as its
/// first argument, for counts, COO and CSR lists, and tables. The pairs and their order are bit for bit those
/// of the CPU (<nearfield/search/pairs.hpp>).
///
///     nearfield::cuda_cell_list cells{nearfield::cuda, nearfield::soa{x, y, z}, cutoff};
///     nearfield::device_coo const list =
///         nearfield::radius_search(nearfield::cuda, cells, nearfield::to_coo{});
///
/// A search waits for its counts, allocates what was found, and returns when the rest of the work is in the
/// stream. It waits by polling words in pinned memory, which saves some microseconds per search. A list is
/// built, rebuilt and searched on one stream, by one thread at a time.

namespace nearfield
{
  namespace detail
  {
    /// A cell list in device memory, defined in src/cuda.
    template <class T, int Dim>
    class device_cells;
  }

  /// Points in device memory, sorted by the cells of a grid, for searches within a cutoff. It keeps views of
  /// the columns, which must outlive it and not change between rebuild and search.
  ///
  /// It takes 20 bytes per point and 8 per cell or, with many more cells than points, 28 bytes per point.
  /// After a search for a CSR list it holds 16 bytes per point less, until the next search.
  template <class T, int Dim>
  class NEARFIELD_API cuda_cell_list
  {
  public:
    using columns = soa<T const, Dim>;              ///< views of device memory
    using options_type = cell_list_options<T, Dim>; ///< how the cells are cut

    /// One set. Throws nearfield::error for a coordinate that is not finite or, on a periodic axis, outside
    /// [0, L), what make_cell_grid() throws for, 2^31 points or more, too little memory on the device, and if
    /// nearfield was built without CUDA.
    cuda_cell_list(cuda_backend where, columns const& points, std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// Two sets: searches `points` for the neighbours of `queries`. Lists have one row per query.
    cuda_cell_list(cuda_backend where, columns const& queries, columns const& points,
                   std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// The same for writable columns.
    template <class X>
    cuda_cell_list(cuda_backend where, soa<X, Dim> const& points, std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {})
        : cuda_cell_list(where, columns(points), cutoff, options)
    {}
    /// The same for writable columns.
    template <class X, class Y>
    cuda_cell_list(cuda_backend where, soa<X, Dim> const& queries, soa<Y, Dim> const& points,
                   std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {})
        : cuda_cell_list(where, columns(queries), columns(points), cutoff, options)
    {}
    /// The moved-from list may only be assigned to or destroyed.
    cuda_cell_list(cuda_cell_list&&) noexcept;
    /// Frees the old list; the moved-from list may only be assigned to or destroyed.
    cuda_cell_list& operator=(cuda_cell_list&&) noexcept;
    ~cuda_cell_list();

    /// Sorts other points, or the same ones after they moved. Keeps the options and, unless one is given, the
    /// cutoff. If the points are refused, the list is unchanged. Memory comes from the pool
    /// (device_array.hpp), which holds that of the last build.
    void rebuild(columns const& points);
    /// One set, with another cutoff.
    void rebuild(columns const& points, T cutoff);
    /// Two sets.
    void rebuild(columns const& queries, columns const& points);
    /// Two sets, and another cutoff.
    void rebuild(columns const& queries, columns const& points, T cutoff);

    /// The grid of the cells.
    [[nodiscard]] cell_grid<T, Dim> const& grid() const;
    /// The number of targets, which have rows.
    [[nodiscard]] std::size_t n_targets() const;
    /// The number of sources, which are found.
    [[nodiscard]] std::size_t n_sources() const;
    /// Whether queries and points are the same.
    [[nodiscard]] bool has_one_set() const;
    /// The stream that it is built and searched on.
    [[nodiscard]] cuda_stream stream() const;
    /// Position -> index in the given columns; in device memory, valid when the stream has done its work. The first
    /// call makes it, unless a search has.
    [[nodiscard]] std::span<index_type const> target_order();
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order();

    /// For radius_search.
    [[nodiscard]] detail::device_cells<T, Dim>& on_device() { return *cells_; }

  private:
    std::unique_ptr<detail::device_cells<T, Dim>> cells_;
  };

  /// One set.
  template <class X, int Dim>
  cuda_cell_list(cuda_backend, soa<X, Dim> const&, std::type_identity_t<std::remove_const_t<X>>,
                 std::type_identity_t<cell_list_options<std::remove_const_t<X>, Dim>> const& = {})
      -> cuda_cell_list<std::remove_const_t<X>, Dim>;
  /// Two sets.
  template <class X, class Y, int Dim>
  cuda_cell_list(cuda_backend, soa<X, Dim> const&, soa<Y, Dim> const&,
                 std::type_identity_t<std::remove_const_t<X>>,
                 std::type_identity_t<cell_list_options<std::remove_const_t<X>, Dim>> const& = {})
      -> cuda_cell_list<std::remove_const_t<X>, Dim>;

  /// The result of count_pairs; per_point is in device memory.
  struct NEARFIELD_API device_counts
  {
    std::uint64_t total = 0; ///< the number of pairs
    /// by index; empty unless asked for
    stream_array<index_type> per_point;

    /// Copies the counts to the host; waits for the stream.
    [[nodiscard]] pair_counts to_host() const;
  };

  /// r2 and x_i - x_j of every entry of a list, in device memory; empty unless asked for.
  template <class T, int Dim>
  struct device_pair_geometry
  {
    stream_array<T> r2;                             ///< length^2
    std::array<stream_array<T>, Dim> displacements; ///< length^1, one column per axis
  };

  /// The result of to_coo, in device memory: pair p is (i[p], j[p]).
  template <class T, int Dim>
  struct NEARFIELD_API device_coo : device_pair_geometry<T, Dim>
  {
    stream_array<index_type> i; ///< indices of the targets
    stream_array<index_type> j; ///< indices of the sources

    /// The number of pairs.
    [[nodiscard]] std::size_t size() const { return i.size(); }
    /// Copies the list to the host; waits for the stream.
    [[nodiscard]] coo<T, Dim> to_host() const;
  };

  /// The result of to_csr, in device memory: row i is columns[offsets[i]] ... columns[offsets[i + 1] - 1].
  template <class T, int Dim>
  struct NEARFIELD_API device_csr : device_pair_geometry<T, Dim>
  {
    stream_array<std::uint64_t> offsets; ///< one more than rows
    stream_array<index_type> columns;    ///< indices of the sources, row by row

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
    stream_array<index_type> counts;  ///< the number of points of each row, also beyond width
    stream_array<index_type> columns; ///< indices of the sources

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return counts.size(); }
    /// Copies the table to the host; waits for the stream.
    [[nodiscard]] neighbour_table to_host() const;
  };

  namespace detail
  {
    NEARFIELD_API void check_same_stream(cuda_stream where, cuda_stream of_list);

    template <class T, int Dim>
    NEARFIELD_API device_counts device_search(device_cells<T, Dim>& cells, count_pairs const& what);
    template <class T, int Dim>
    NEARFIELD_API device_coo<T, Dim> device_search(device_cells<T, Dim>& cells, to_coo const& what);
    template <class T, int Dim>
    NEARFIELD_API device_csr<T, Dim> device_search(device_cells<T, Dim>& cells, to_csr const& what);
    template <class T, int Dim>
    NEARFIELD_API device_table device_search(device_cells<T, Dim>& cells, to_table const& what);
  }

  /// All pairs closer than the cutoff: `what` is count_pairs, to_coo, to_csr or to_table, and the result is
  /// device_counts, device_coo, device_csr or device_table. Deterministic. Throws nearfield::error for a half
  /// list of two sets, a stream other than that of the list, a result larger than max_bytes, a table of width
  /// 0, and too little memory on the device. The cells are not const: a search may free memory that they can make
  /// again, or make the order inside cells.
  template <class T, int Dim, class Sink>
  auto radius_search(cuda_backend where, cuda_cell_list<T, Dim>& cells, Sink const& what)
  {
    detail::check_same_stream(where.stream, cells.stream());
    return detail::device_search(cells.on_device(), what);
  }

#define NEARFIELD_CUDA_SEARCH(T, Dim)                                                              \
  extern template class cuda_cell_list<T, Dim>;                                                    \
  extern template struct device_coo<T, Dim>;                                                       \
  extern template struct device_csr<T, Dim>;
  NEARFIELD_CUDA_SEARCH(float, 2)
  NEARFIELD_CUDA_SEARCH(float, 3)
  NEARFIELD_CUDA_SEARCH(double, 2)
  NEARFIELD_CUDA_SEARCH(double, 3)
#undef NEARFIELD_CUDA_SEARCH
}
