#pragma once

#include "device_search.cuh"

#include <nearfield/search/cuda.hpp>

#include <algorithm>

/// \file
/// The search for a range of positions: the kernels of whole lists, over items that are clipped to the range.

namespace nearfield::detail
{
  /// The first positions of items, clipped to [first, last).
  static __global__ void cut_items(std::uint32_t const* item_begin, std::uint32_t n_items,
                                   std::uint32_t first, std::uint32_t last, std::uint32_t* cut)
  {
    std::uint32_t const k = thread_index();
    if (k <= n_items) cut[k] = min(max(item_begin[k], first), last);
  }

  /// Computes the lengths of rows, and where the rows of each item start.
  static __global__ void split_offsets(std::uint64_t const* offsets, std::uint32_t n_rows,
                                       std::uint32_t const* item_begin, std::uint32_t n_items,
                                       std::uint32_t first, std::uint32_t* rows,
                                       std::uint64_t* item_offsets)
  {
    std::uint32_t const k = thread_index();
    if (k < n_rows) rows[k] = static_cast<std::uint32_t>(offsets[k + 1] - offsets[k]);
    if (k < n_items) item_offsets[k] = offsets[item_begin[k] - first];
  }

  /// The items of a range of positions, with the first and the last clipped.
  template <class T, int Dim>
  class cuda_rows<T, Dim>::items
  {
  public:
    items(cuda_rows const& of, index_type first, index_type last)
    {
      auto const& all = of.item_begin_;
      if (first >= last) return;
      first_ = static_cast<std::uint32_t>(std::upper_bound(all.begin(), all.end(), first) -
                                          all.begin() - 1);
      n_ =
          static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), last) - all.begin()) -
          first_;
      auto const stream = of.cells_->stream();
      begin_ = device_array<std::uint32_t>(n_ + std::size_t(1), stream, "radius_search: items");
      cut_items<<<blocks_for(n_ + std::size_t(1), block_threads), block_threads, 0, stream>>>(
          of.cells_->targets().item_begin.data() + first_, n_, first, last, begin_.data());
      check_cuda(cudaGetLastError(), "radius_search: cut_items");
    }

    [[nodiscard]] std::uint32_t n() const { return n_; }
    [[nodiscard]] std::uint32_t const* begin() const { return begin_.data(); }
    /// Restricts the search to these items.
    void narrow(device_search_run<T, Dim>& run) const { run.narrow(begin_.data(), first_, n_); }

  private:
    std::uint32_t first_ = 0, n_ = 0;
    device_array<std::uint32_t> begin_;
  };

  template <class T, int Dim>
  cuda_rows<T, Dim>::cuda_rows(cuda_stream stream, cell_grid<T, Dim> const& grid,
                               columns const& targets, columns const& sources, bool one_set)
      : cells_(std::make_unique<device_cells<T, Dim>>(stream, cell_list_options<T, Dim>{}))
  {
    rebuild(grid, targets, sources, one_set);
  }

  template <class T, int Dim>
  void cuda_rows<T, Dim>::rebuild(cell_grid<T, Dim> const& grid, columns const& targets,
                                  columns const& sources, bool one_set)
  {
    cells_->build(grid, targets, sources, one_set);
    auto const& starts = cells_->targets().item_begin;
    item_begin_.resize(cells_->targets().n_items + std::size_t(1));
    if (starts.size() > 0)
      device_copy(item_begin_.data(), starts.data(), item_begin_.size() * sizeof(index_type),
                  cells_->stream());
  }

  template <class T, int Dim>
  cuda_rows<T, Dim>::~cuda_rows() = default;

  template <class T, int Dim>
  void cuda_rows<T, Dim>::bind(columns const& targets, columns const& sources)
  {
    cells_->bind(targets, sources);
  }

  template <class T, int Dim>
  void cuda_rows<T, Dim>::count(pairs which, index_type first, index_type last,
                                std::uint64_t* offsets, std::uint64_t* size)
  {
    cuda_stream const stream = cells_->stream();
    std::uint32_t const n = last - first;
    device_search_run<T, Dim> run(*cells_, which, true);
    items const some(*this, first, last);
    some.narrow(run);
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    run.out().row_of_position = rows.data() - first;
    run.template launch<search_stage::count>();
    scan_counts(rows.data(), offsets, n, stream);
    check_cuda(cudaMemcpyAsync(size, offsets + n, sizeof *size, cudaMemcpyDeviceToDevice, stream),
               "radius_search: cudaMemcpyAsync");
  }

  template <class T, int Dim>
  void cuda_rows<T, Dim>::fill(pairs which, index_type first, index_type last,
                               std::uint64_t const* offsets, index_type* i, index_type* j)
  {
    cuda_stream const stream = cells_->stream();
    std::uint32_t const n = last - first;
    if (n == 0) return;
    device_search_run<T, Dim> run(*cells_, which, true);
    items const some(*this, first, last);
    some.narrow(run);
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    device_array<std::uint64_t> item_offsets(some.n(), stream, "radius_search: items");
    split_offsets<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        offsets, n, some.begin(), some.n(), first, rows.data(), item_offsets.data());
    check_cuda(cudaGetLastError(), "radius_search: split_offsets");
    search_output& out = run.out();
    out.row_of_position = rows.data() - first;
    out.item_offsets = item_offsets.data();
    out.out_i = i;
    out.out_j = j;
    run.template launch<search_stage::fill>();
  }
}
