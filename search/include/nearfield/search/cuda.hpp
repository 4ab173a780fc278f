#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/stream_array.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

/// \file
/// Fixed-radius search on a GPU: a cell list of points in device memory, and radius_search with
/// `cuda` as its first argument, for counts, COO and CSR lists, and tables. The pairs and their
/// order are those of the CPU, bit for bit (<nearfield/search/pairs.hpp>).
///
///     nearfield::cuda_cell_list cells{nearfield::cuda, nearfield::soa{x, y, z}, cutoff};
///     nearfield::device_coo const list =
///         nearfield::radius_search(nearfield::cuda, cells, nearfield::to_coo{});
///
/// A search waits for its counts, takes the memory of what was found, and returns when the rest of
/// the work has been given to the stream. The thread that waits does not sleep: it looks at words in
/// pinned memory, which saves some microseconds a search. A list is built, rebuilt and searched on
/// one stream, by one thread at a time.

namespace nearfield
{
  namespace detail
  {
    /// A cell list in device memory; src/search/cuda defines it.
    template <class T, int Dim>
    class device_cells;
  }

  /// Points in device memory, sorted by the cells of a grid in which neighbours closer than the cutoff are
  /// found. Keeps views of the columns, which must outlive it and not change between rebuild and search.
  ///
  /// Takes 20 bytes a point and 8 a cell; a cloud with many times more cells than points 28 bytes a point. After
  /// a search for a CSR list it holds 16 bytes a point less, until the next search.
  template <class T, int Dim>
  class NEARFIELD_API cuda_cell_list
  {
  public:
    using columns = soa<T const, Dim>;              ///< views of device memory
    using options_type = cell_list_options<T, Dim>; ///< how the cells are cut

    /// One set. Throws error for a coordinate that is not finite or outside [0, L) of a periodic axis, what
    /// make_cell_grid throws for, 2^31 points or more, and where nearfield was built without CUDA.
    cuda_cell_list(cuda_backend where, columns const& points, std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// Two sets: the neighbours of queries among points. Lists have a row for each query.
    cuda_cell_list(cuda_backend where, columns const& queries, columns const& points,
                   std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// The same of columns that may be written.
    template <class X>
    cuda_cell_list(cuda_backend where, soa<X, Dim> const& points, std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {})
        : cuda_cell_list(where, columns(points), cutoff, options)
    {}
    /// The same of columns that may be written.
    template <class X, class Y>
    cuda_cell_list(cuda_backend where, soa<X, Dim> const& queries, soa<Y, Dim> const& points,
                   std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {})
        : cuda_cell_list(where, columns(queries), columns(points), cutoff, options)
    {}
    /// The other one can be assigned to or destroyed then.
    cuda_cell_list(cuda_cell_list&&) noexcept;
    /// The other one can be assigned to or destroyed then; what was here goes.
    cuda_cell_list& operator=(cuda_cell_list&&) noexcept;
    ~cuda_cell_list();

    /// Other points, or the same after they moved, with the same options; the cutoff stays unless given. Where
    /// the points are refused the list is as it was. Memory comes from the pool
    /// (stream_array.hpp), which has what the last build took.
    void rebuild(columns const& points);
    /// The same points or others, and another cutoff.
    void rebuild(columns const& points, T cutoff);
    /// Two sets.
    void rebuild(columns const& queries, columns const& points);
    /// Two sets, and another cutoff.
    void rebuild(columns const& queries, columns const& points, T cutoff);

    /// The grid whose cells these are.
    [[nodiscard]] cell_grid<T, Dim> const& grid() const;
    /// The number of points that have rows.
    [[nodiscard]] std::size_t n_targets() const;
    /// The number of points that are found.
    [[nodiscard]] std::size_t n_sources() const;
    /// Whether queries and points are the same.
    [[nodiscard]] bool has_one_set() const;
    /// The stream on which it is built and searched.
    [[nodiscard]] cuda_stream stream() const;
    /// Position -> the caller's index, in device memory, when the stream has done its work.
    [[nodiscard]] std::span<index_type const> target_order() const;
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() const;

    /// What radius_search works on, and changes where no result can tell: the order inside cells is
    /// made by the first search that needs it, and memory that a list has no more use for is freed.
    [[nodiscard]] detail::device_cells<T, Dim>& on_device() const { return *cells_; }

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

  /// What count_pairs gives; per_point in device memory.
  struct NEARFIELD_API device_counts
  {
    std::uint64_t total = 0; ///< of pairs
    /// of the caller's point i; empty unless asked for
    stream_array<index_type> per_point;

    /// Waits for the stream.
    [[nodiscard]] pair_counts to_host() const;
  };

  /// r2 and x_i - x_j of every entry of a list, where they were asked for, in device memory.
  template <class T, int Dim>
  struct device_pair_geometry
  {
    stream_array<T> r2;                             ///< length^2
    std::array<stream_array<T>, Dim> displacements; ///< length^1, one column an axis
  };

  /// What to_coo gives, in device memory: pair p is (i[p], j[p]).
  template <class T, int Dim>
  struct NEARFIELD_API device_coo : device_pair_geometry<T, Dim>
  {
    stream_array<index_type> i; ///< the caller's index
    stream_array<index_type> j; ///< the caller's index

    /// The number of pairs.
    [[nodiscard]] std::size_t size() const { return i.size(); }
    /// Waits for the stream.
    [[nodiscard]] coo<T, Dim> to_host() const;
  };

  /// What to_csr gives, in device memory: row i holds columns[offsets[i]] ... columns[offsets[i + 1] - 1].
  template <class T, int Dim>
  struct NEARFIELD_API device_csr : device_pair_geometry<T, Dim>
  {
    stream_array<std::uint64_t> offsets; ///< one more than there are rows
    stream_array<index_type> columns;    ///< the caller's indices, row after row

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return offsets.size() == 0 ? 0 : offsets.size() - 1; }
    /// Waits for the stream.
    [[nodiscard]] csr<T, Dim> to_host() const;
  };

  /// What to_table gives, in device memory: place k of row i is columns[i * width + k].
  struct NEARFIELD_API device_table
  {
    index_type width = 0; ///< places of a row
    /// a row has more points than places; counts are true
    bool overflow = false;
    stream_array<index_type> counts;  ///< how many points each row has
    stream_array<index_type> columns; ///< the caller's indices

    /// The number of rows.
    [[nodiscard]] std::size_t size() const { return counts.size(); }
    /// Waits for the stream.
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

  /// All pairs closer than the cutoff: `what` is count_pairs, to_coo, to_csr or to_table, and the result a
  /// device_counts, device_coo, device_csr or device_table. Deterministic. Throws error for half lists of two
  /// sets, another stream than that of the list, a result larger than max_bytes, and where the device has no
  /// memory for it.
  template <class T, int Dim, class Sink>
  auto radius_search(cuda_backend where, cuda_cell_list<T, Dim> const& cells, Sink const& what)
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
