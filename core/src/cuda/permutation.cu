#include <nearfield/cuda/permutation.hpp>

#include "launch.cuh"

#include <nearfield/cuda/device.hpp>

#include <algorithm>

namespace nearfield::detail
{
  namespace
  {
    /// Columns of one launch: a thread reads its place once for all of them.
    constexpr int most_columns = 16;

    template <class T>
    struct column_pairs
    {
      strided_column<T const> from[most_columns];
      strided_column<T> to[most_columns];
      int n_columns;
    };

    struct places_in_order
    {
      index_type const* order;

      __device__ index_type operator[](std::uint32_t i) const { return order ? order[i] : i; }
    };

    struct places_of_runs
    {
      row_run const* runs;
      std::uint32_t n;
      index_type first_row;

      __device__ index_type operator[](std::uint32_t i) const
      {
        index_type const row = first_row + i;
        row_run const run =
            runs[count_before(n, [&](std::uint32_t k) { return runs[k].row <= row; }) - 1];
        return run.place + (row - run.row);
      }
    };

    template <class T, class Order>
    __global__ void gather_columns(Order order, std::uint32_t n, column_pairs<T> const c)
    {
      std::uint32_t const i = thread_index();
      if (i >= n) return;
      index_type const place = order[i];
      for (int k = 0; k < c.n_columns; ++k) c.to[k][i] = c.from[k][place];
    }

    template <class T>
    __global__ void move_columns(index_type const* order, std::uint32_t n,
                                 std::array<double, 3> const* moves, column_pairs<T> const c)
    {
      std::uint32_t const i = thread_index();
      if (i >= n) return;
      auto const* const move = reinterpret_cast<double const*>(moves + order[i]);
      for (int k = 0; k < c.n_columns; ++k)
        c.to[k][i] = static_cast<T>(static_cast<double>(c.to[k][i]) + move[k]);
    }

    template <bool Accumulate, class T>
    __global__ void scatter_columns(places_in_order order, std::uint32_t n, column_pairs<T> const c)
    {
      std::uint32_t const i = thread_index();
      if (i >= n) return;
      index_type const place = order[i];
      for (int k = 0; k < c.n_columns; ++k)
        if constexpr (Accumulate)
          c.to[k][place] += c.from[k][i];
        else
          c.to[k][place] = c.from[k][i];
    }

    template <class T, class Order>
    void launch(void (*kernel)(Order, std::uint32_t, column_pairs<T>), char const* name,
                cuda_stream stream, Order order, std::size_t n, any_columns<T const> const& from,
                any_columns<T> const& to)
    {
      if (n == 0) return;
      int const n_columns = width_of(from);
      for (int first = 0; first < n_columns; first += most_columns)
      {
        column_pairs<T> columns{};
        columns.n_columns = std::min(most_columns, n_columns - first);
        for (int c = 0; c < columns.n_columns; ++c)
        {
          columns.from[c] = from[first + c];
          columns.to[c] = to[first + c];
        }
        kernel<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
            order, static_cast<std::uint32_t>(n), columns);
        check_cuda(cudaGetLastError(), name);
      }
    }

    /// To: whether rows go to the pieces.
    template <bool To, class T, class Column>
    __global__ void move_rows(index_type const* order, std::size_t n, column_pieces<T> const pieces,
                              Column* columns, std::size_t stride, int n_columns)
    {
      std::uint32_t const i = thread_index();
      if (i >= n || order[i] == no_row) return;
      index_type const row = order[i], piece = row >> pieces.shift;
      T* in_piece = pieces.first[piece] + (row & ((index_type(1) << pieces.shift) - 1));
      Column* in_column = columns + i;
      for (int c = 0; c < n_columns; ++c)
      {
        if constexpr (To)
          *in_piece = *in_column;
        else
          *in_column = *in_piece;
        in_piece += pieces.rows[piece];
        in_column += stride;
      }
    }
  }

  template <class T>
  void device_gather_from_pieces(cuda_stream stream, index_type const* order, std::size_t n,
                                 column_pieces<T> const& from, T* to, std::size_t stride,
                                 int n_columns)
  {
    if (n == 0) return;
    move_rows<false><<<blocks_for(n, block_threads), block_threads, 0, stream>>>(order, n, from, to,
                                                                                 stride, n_columns);
    check_cuda(cudaGetLastError(), "gather_from_pieces");
  }

  template <class T>
  void device_scatter_to_pieces(cuda_stream stream, index_type const* order, std::size_t n,
                                T const* from, std::size_t stride, column_pieces<T> const& to,
                                int n_columns)
  {
    if (n == 0) return;
    move_rows<true><<<blocks_for(n, block_threads), block_threads, 0, stream>>>(order, n, to, from,
                                                                                stride, n_columns);
    check_cuda(cudaGetLastError(), "scatter_to_pieces");
  }

  template <class T>
  void device_gather(cuda_stream stream, index_type const* order, std::size_t n,
                     any_columns<T const> const& from, any_columns<T> const& to)
  {
    launch<T>(&gather_columns<T, places_in_order>, "gather", stream, places_in_order{order}, n,
              from, to);
  }

  template <class T>
  void device_move(cuda_stream stream, index_type const* order, std::size_t n,
                   std::array<double, 3> const* moves, any_columns<T> const& columns)
  {
    if (n == 0) return;
    column_pairs<T> pairs{};
    pairs.n_columns = std::min(width_of(columns), 3); // parameters stay
    for (int c = 0; c < pairs.n_columns; ++c) pairs.to[c] = columns[c];
    move_columns<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        order, static_cast<std::uint32_t>(n), moves, pairs);
    check_cuda(cudaGetLastError(), "move");
  }

  template <class T>
  void device_gather_runs(cuda_stream stream, row_run const* runs, std::size_t n_runs,
                          index_type first_row, std::size_t n, any_columns<T const> const& from,
                          any_columns<T> const& to)
  {
    places_of_runs const places{runs, static_cast<std::uint32_t>(n_runs), first_row};
    launch<T>(&gather_columns<T, places_of_runs>, "gather_runs", stream, places, n, from, to);
  }

  template <class T>
  void device_scatter(cuda_stream stream, index_type const* order, std::size_t n,
                      any_columns<T const> const& from, any_columns<T> const& to, bool accumulate)
  {
    launch<T>(accumulate ? &scatter_columns<true, T> : &scatter_columns<false, T>, "scatter",
              stream, places_in_order{order}, n, from, to);
  }

#define NEARFIELD_INSTANTIATE(T)                                                                   \
  template void device_gather(cuda_stream, index_type const*, std::size_t,                         \
                              any_columns<T const> const&, any_columns<T> const&);                 \
  template void device_move(cuda_stream, index_type const*, std::size_t,                           \
                            std::array<double, 3> const*, any_columns<T> const&);                  \
  template void device_gather_runs(cuda_stream, row_run const*, std::size_t, index_type,           \
                                   std::size_t, any_columns<T const> const&,                       \
                                   any_columns<T> const&);                                         \
  template void device_scatter(cuda_stream, index_type const*, std::size_t,                        \
                               any_columns<T const> const&, any_columns<T> const&, bool);          \
  template void device_gather_from_pieces(cuda_stream, index_type const*, std::size_t,             \
                                          column_pieces<T> const&, T*, std::size_t, int);          \
  template void device_scatter_to_pieces(cuda_stream, index_type const*, std::size_t, T const*,    \
                                         std::size_t, column_pieces<T> const&, int);
  NEARFIELD_INSTANTIATE(float)
  NEARFIELD_INSTANTIATE(double)
#undef NEARFIELD_INSTANTIATE
}
