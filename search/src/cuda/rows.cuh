#pragma once

#include "device_rows.hpp"
#include "device_search.cuh"
#include "on_device.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <vector>

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

  /// Where the rows of each item start.
  static __global__ void offsets_of_items(std::uint64_t const* offsets,
                                          std::uint32_t const* item_begin, std::uint32_t n_items,
                                          std::uint32_t first, std::uint64_t* item_offsets)
  {
    std::uint32_t const k = thread_index();
    if (k < n_items) item_offsets[k] = offsets[item_begin[k] - first];
  }

  template <class T, int Dim>
  class rows_on_gpu final : public device_rows<T, Dim>
  {
  public:
    using columns = strided<T const, Dim>;

    rows_on_gpu(cuda_stream stream, slab_query<T, Dim> const& query, std::size_t n_slabs);

    void sort(columns const& targets, columns const& sources) override;
    void bind(columns const& targets, columns const& sources) override
    {
      cells_.bind(targets, sources);
    }
    void count(std::size_t k, index_type first, index_type last, index_type* rows,
               std::uint64_t* offsets) override;
    [[nodiscard]] std::uint64_t n_pairs(std::size_t k) const override
    {
      return slabs_[k].found->pairs;
    }
    void leave_room(std::size_t k, std::uint64_t bytes) override;
    void fill(std::size_t k, slab_columns<T, Dim> const& to) override;

  private:
    /// A range of positions, and what its count keeps for the fill.
    struct slab
    {
      std::uint32_t first = 0, first_item = 0, n_items = 0;
      /// the items' first positions; empty if they are those of all
      device_array<std::uint32_t> clipped;
      device_array<std::uint32_t> rows; ///< the number of pairs of each position
      device_array<std::uint32_t> many; ///< items with masks in several batches
      device_array<std::uint64_t> item_offsets;
      std::optional<mask_arrays> masks;
      search_counters* found = nullptr; ///< in pinned memory

      void forget()
      {
        masks.reset();
        item_offsets = {};
        for (auto* const one : {&clipped, &rows, &many}) *one = {};
      }
      struct forgetter
      {
        void operator()(slab* one) const { one->forget(); }
      };
      /// At its end the slab forgets, whatever has failed before.
      using until_forgotten = std::unique_ptr<slab, forgetter>;
    };

    /// The items of a slab.
    void cut(slab& to, index_type last);
    /// Restricts a search to these.
    static void narrow(slab const& to, device_search_run<T, Dim>& run)
    {
      if (to.clipped.size() > 0) run.narrow(to.clipped.data(), to.first_item, to.n_items);
    }

    /// A search of the slabs' pairs.
    [[nodiscard]] device_search_run<T, Dim> search()
    {
      return {cells_, query_.which, true, filter_ ? &*filter_ : nullptr};
    }
    [[nodiscard]] bool has_geometry() const { return geometry_bytes<T, Dim>(query_) > 0; }
    /// Whether it depends on the images in which pairs meet.
    [[nodiscard]] bool needs_shifts() const { return has_geometry() && cells_.images().moves(); }

    /// Whether it depends on the target of a pair.
    [[nodiscard]] bool needs_targets() const
    {
      return query_.distances || query_.displacements ||
             (has_images(query_) && (query_.is_batch || cells_.target_images().any()));
    }
    /// What fill() allocates for a pair, at most.
    [[nodiscard]] std::uint64_t bytes_while_filled() const
    {
      return (needs_targets() ? sizeof(std::uint32_t) : 0) +
             (needs_shifts() ? sizeof(unsigned short) : 0);
    }

    slab_query<T, Dim> query_;
    cells_on_gpu<T, Dim> cells_;
    std::optional<device_filter<T>> filter_;
    std::shared_ptr<void> found_; ///< the counters of all slabs, in pinned memory
    std::vector<slab> slabs_;
    /// the first position of each item, on the host; empty until a slab needs it
    std::vector<index_type> item_begin_;
    int device_ = 0;
    std::uint64_t announced_ = 0; ///< bytes, since sort()
    std::atomic<bool> has_been_short_ = false;
  };

  template <class T, int Dim>
  rows_on_gpu<T, Dim>::rows_on_gpu(cuda_stream stream, slab_query<T, Dim> const& query,
                                   std::size_t n_slabs)
      : query_(query), cells_(stream, query.grid),
        found_(pinned_allocate(n_slabs * sizeof(search_counters), "radius_search: cudaMallocHost"),
               pinned_free),
        slabs_(n_slabs)
  {
    check_cuda(cudaGetDevice(&device_), "radius_search: cudaGetDevice");
    if (query.filter) filter_.emplace(query.filter->arrays(), stream);
    auto* const found = static_cast<search_counters*>(found_.get());
    for (std::size_t k = 0; k < n_slabs; ++k) slabs_[k].found = new (found + k) search_counters{};
  }

  template <class T, int Dim>
  void rows_on_gpu<T, Dim>::sort(columns const& targets, columns const& sources)
  {
    for (slab& one : slabs_) one.forget();
    item_begin_.clear();
    announced_ = 0;
    if (query_.is_batch)
      cells_.build(targets, sources, query_.one_set, query_.batch);
    else
      cells_.build(targets, sources, query_.one_set, query_.cutoff);
  }

  template <class T, int Dim>
  void rows_on_gpu<T, Dim>::cut(slab& to, index_type last)
  {
    auto const& all = cells_.targets();
    if (to.first == 0 && last == all.n)
    {
      to.first_item = 0;
      to.n_items = all.n_items;
      return;
    }
    if (item_begin_.empty())
    {
      item_begin_.resize(all.n_items + std::size_t(1));
      device_copy(item_begin_.data(), all.item_begin.data(),
                  item_begin_.size() * sizeof(index_type), cells_.stream());
    }
    auto const begin = item_begin_.begin(), end = item_begin_.end();
    to.first_item = static_cast<std::uint32_t>(std::upper_bound(begin, end, to.first) - begin - 1);
    to.n_items =
        static_cast<std::uint32_t>(std::lower_bound(begin, end, last) - begin) - to.first_item;
    auto const stream = cells_.stream();
    std::size_t const n = to.n_items + std::size_t(1);
    to.clipped = device_array<std::uint32_t>(n, stream, "radius_search: items");
    cut_items<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        all.item_begin.data() + to.first_item, to.n_items, to.first, last, to.clipped.data());
    check_cuda(cudaGetLastError(), "radius_search: cut_items");
  }

  template <class T, int Dim>
  void rows_on_gpu<T, Dim>::count(std::size_t k, index_type first, index_type last,
                                  index_type* rows, std::uint64_t* offsets)
  {
    cuda_stream const stream = cells_.stream();
    std::uint32_t const n = last - first;
    slab& to = slabs_[k];
    to.forget();
    typename slab::until_forgotten kept(&to);
    to.first = first;
    *to.found = {};
    auto run = search();
    cut(to, last);
    narrow(to, run);
    to.rows = device_array<std::uint32_t>(n, stream, "radius_search: rows");
    to.many = device_array<std::uint32_t>(to.n_items, stream, "radius_search: items");
    to.item_offsets = device_array<std::uint64_t>(to.n_items, stream, "radius_search: items");
    search_output& out = run.out();
    out.counters_for_host = &*to.found;
    out.row_of_position = to.rows.data() - first;
    out.every_row = true;
    out.items_of_many_batches = to.many.data();
    out.keeps_shifts = needs_shifts();
    try
    {
      to.masks.emplace(out, query_.which, n, to.n_items, stream);
    }
    catch (error const& failure)
    {
      if (failure.kind() != error_kind::out_of_memory) throw;
      to.masks.emplace(out, query_.which, 0, to.n_items, stream); // the fill tests again
    }
    run.template launch<search_stage::masks>();
    scan_counts(to.rows.data(), offsets, n, stream);
    offsets_of_items<<<blocks_for(to.n_items, block_threads), block_threads, 0, stream>>>(
        offsets, to.clipped.size() > 0 ? to.clipped.data() : cells_.targets().item_begin.data(),
        to.n_items, first, to.item_offsets.data());
    check_cuda(cudaGetLastError(), "radius_search: offsets_of_items");
    check_cuda(cudaMemcpyAsync(rows, cells_.targets().order.data() + first, n * sizeof *rows,
                               cudaMemcpyDeviceToDevice, stream),
               "radius_search: cudaMemcpyAsync");
    end_stage("offsets", stream);
    static_cast<void>(kept.release());
  }

  template <class T, int Dim>
  void rows_on_gpu<T, Dim>::leave_room(std::size_t k, std::uint64_t bytes)
  {
    on_device const current(device_);
    announced_ += bytes;
    std::uint64_t const needed = announced_ + bytes_while_filled() * slabs_[k].found->pairs;
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "radius_search: cudaMemGetInfo");
    if (free >= needed) return;
    has_been_short_ =
        true; // before the pools return what is unused: a fill that ends later sees it
    if (free_gpu_memory() < needed) slabs_[k].masks.reset();
    trim_pool();
  }

  template <class T, int Dim>
  void rows_on_gpu<T, Dim>::fill(std::size_t k, slab_columns<T, Dim> const& into)
  {
    cuda_stream const stream = cells_.stream();
    slab& from = slabs_[k];
    search_counters const found = *from.found;
    if (found.pairs == 0) return;
    typename slab::until_forgotten kept(&from);
    std::uint32_t* const rows = from.rows.data() - from.first;
    // what geometry is made of
    device_array<std::uint32_t> targets(needs_targets() && !into.i ? found.pairs : 0, stream,
                                        "radius_search: rows");
    device_array<unsigned short> shifts(needs_shifts() ? found.pairs : 0, stream,
                                        "radius_search: images");
    index_type* const i = into.i ? into.i : targets.data();
    pair_columns to{i, into.j, {}};
    to.images.shift = shifts.data();
    counted_items const items{.n = {from.n_items},
                              .masks = from.masks ? &*from.masks : nullptr,
                              .many = from.many.data(),
                              .found = &found,
                              .on_device = nullptr,
                              .item_offsets = from.item_offsets.data(),
                              .row_of_position = rows,
                              .row_offsets = nullptr};
    write_items(cells_, items, to,
                [&](auto const& change)
                {
                  auto run = search();
                  narrow(from, run);
                  change(run.out());
                  run.template launch<search_stage::fill>();
                });
    kept.reset();
    if (has_geometry())
    {
      made_columns<T, Dim> made{};
      made.r2 = {into.r2, 1};
      made.packed = {into.packed_images, 1};
      for (int a = 0; a < Dim; ++a)
      {
        made.displacements[a] = {into.displacements[a], 1};
        made.images[a] = {into.images[a], 1};
      }
      put_columns(cells_, made, to, {nullptr, found.pairs});
    }
    if (has_been_short_) trim_pool();
  }

  template <class T, int Dim>
  std::unique_ptr<device_rows<T, Dim>> device_rows<T, Dim>::make(cuda_stream stream,
                                                                 slab_query<T, Dim> const& query,
                                                                 std::size_t n_slabs)
  {
    return std::make_unique<rows_on_gpu<T, Dim>>(stream, query, n_slabs);
  }
}
