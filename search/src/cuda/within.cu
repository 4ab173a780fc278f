// Two cutoffs from one search: a list without the pairs that are further apart. A warp takes a row of a CSR, or a run of
// pairs of a COO, and keeps the order.

#include "../within.hpp"

#include "launch.cuh"
#include "scans.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>

#include <cstdint>

namespace nearfield::detail
{
  namespace
  {
    constexpr int most_columns = 10;

    /// The columns of values of one size.
    template <class Word>
    struct word_columns
    {
      Word const* from[most_columns];
      Word* to[most_columns];
      int n = 0;
    };
    struct kept_columns
    {
      word_columns<std::uint32_t> narrow;
      word_columns<std::uint64_t> wide;
    };

    /// Row r has the pairs [offsets[r], offsets[r + 1]) or, without offsets, is run r of n pairs.
    struct row_bounds
    {
      std::uint64_t const* offsets;
      std::uint64_t n;

      __device__ std::uint64_t operator[](std::uint64_t row) const
      {
        return offsets ? offsets[row] : min(row * run_of_pairs, n);
      }
    };

    __device__ std::uint64_t warp_index()
    {
      return (std::uint64_t(blockIdx.x) * block_threads + threadIdx.x) / 32;
    }

    template <class T>
    __global__ void count_within(T const* r2, T square, row_bounds rows, std::uint64_t n_rows,
                                 std::uint32_t* counts)
    {
      std::uint64_t const row = warp_index();
      if (row >= n_rows) return;
      std::uint32_t const lane = threadIdx.x % 32;
      std::uint64_t const end = rows[row + 1];
      std::uint32_t kept = 0;
      for (std::uint64_t p = rows[row] + lane; p < end; p += 32) kept += r2[p] < square;
      kept = __reduce_add_sync(all_lanes, kept);
      if (lane == 0) counts[row] = kept;
    }

    template <class Word>
    __device__ void take(word_columns<Word> const& columns, std::uint64_t from, std::uint64_t to)
    {
      for (int c = 0; c < columns.n; ++c) columns.to[c][to] = columns.from[c][from];
    }

    template <class T>
    __global__ void keep_within(T const* r2, T square, row_bounds rows, std::uint64_t n_rows,
                                std::uint64_t const* first,
                                __grid_constant__ kept_columns const columns)
    {
      std::uint64_t const row = warp_index();
      if (row >= n_rows) return;
      std::uint32_t const lane = threadIdx.x % 32;
      std::uint64_t const end = rows[row + 1];
      std::uint64_t at = first[row];
      for (std::uint64_t from = rows[row]; from < end; from += 32)
      {
        std::uint64_t const p = from + lane;
        bool const keeps = p < end && r2[p] < square;
        std::uint32_t const kept = __ballot_sync(all_lanes, keeps);
        if (keeps)
        {
          std::uint64_t const to = at + __popc(kept & ((1u << lane) - 1));
          take(columns.narrow, p, to);
          take(columns.wide, p, to);
        }
        at += __popc(kept);
      }
    }
  }

  template <class List>
  List device_pairs_within(cuda_stream stream, List const& list, double cutoff, bool closed)
  {
    std::uint64_t const n = pairs_of(list);
    auto const square = square_within(list, cutoff, closed);
    std::size_t const n_rows = rows_of(list);
    List result;
    row_bounds rows{nullptr, n};
    if constexpr (requires { list.offsets; }) rows.offsets = list.offsets.data();
    device_array<std::uint32_t> counts(n_rows, stream, "within: counts");
    device_array<std::uint64_t> first(n_rows + 1, stream, "within: offsets");
    unsigned const blocks = blocks_for(32 * n_rows, block_threads);
    if (n_rows > 0)
      count_within<<<blocks, block_threads, 0, stream>>>(list.r2.data(), square, rows, n_rows,
                                                         counts.data());
    check_cuda(cudaGetLastError(), "within: count_within");
    scan_counts(counts.data(), first.data(), n_rows, stream);
    std::uint64_t total = 0;
    device_copy(&total, first.data() + n_rows, sizeof total, stream);

    kept_columns columns;
    for_columns_of_pairs(list, result,
                         [&](auto const& from, auto& to)
                         {
                           if (from.size() == 0) return;
                           to = std::remove_reference_t<decltype(to)>(total, stream,
                                                                      "within: columns");
                           auto const add = [&](auto& words)
                           {
                             using word = std::remove_reference_t<decltype(*words.to[0])>;
                             words.from[words.n] = reinterpret_cast<word const*>(from.data());
                             words.to[words.n++] = reinterpret_cast<word*>(to.data());
                           };
                           if constexpr (sizeof(*to.data()) == sizeof(std::uint64_t))
                             add(columns.wide);
                           else
                             add(columns.narrow);
                         });
    if (total > 0)
      keep_within<<<blocks, block_threads, 0, stream>>>(list.r2.data(), square, rows, n_rows,
                                                        first.data(), columns);
    check_cuda(cudaGetLastError(), "within: keep_within");
    if constexpr (requires { list.offsets; }) result.offsets = std::move(first);
    return result;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template device_csr<T, Dim> device_pairs_within(cuda_stream, device_csr<T, Dim> const&, double,  \
                                                  bool);                                           \
  template device_coo<T, Dim> device_pairs_within(cuda_stream, device_coo<T, Dim> const&, double,  \
                                                  bool);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
