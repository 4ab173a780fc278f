#pragma once

#include "cells.cuh"
#include "expand.hpp"
#include "pinned.hpp"
#include "search_kernel.cuh"
#include "trace.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>

#include <new>

namespace nearfield::detail
{
  template <class T, int Dim>
  pair_definition<T, Dim> definition_of(cells_on_gpu<T, Dim> const& cells,
                                        device_filter<T> const* filter = nullptr)
  {
    pair_definition<T, Dim> pair;
    pair.targets = device_points<T, Dim>(cells.target_x());
    pair.sources = device_points<T, Dim>(cells.source_x());
    pair.one = {cells.grid().cutoff_squared, cells.images().shifts()};
    pair.systems = cells.systems_on_device().systems.data();
    pair.cutoffs = cells.systems_on_device().cutoffs.data();
    if (filter) pair.rules = pair_rules<T>(*filter);
    return pair;
  }

  /// A search of one list: its input, its counters, and the launches.
  template <class T, int Dim>
  class device_search_run
  {
  public:
    /// `ordered`: the result depends on the order inside cells.
    device_search_run(cells_on_gpu<T, Dim>& cells, pairs which, bool ordered,
                      device_filter<T> const* filter = nullptr)
        : cells_(cells), filter_(filter), stream_(cells.stream()),
          counters_(static_cast<search_counters*>(cells.search_memory()))
    {
      if (which == pairs::half && !cells.one_set())
        throw error("radius_search: two sets have no half list; ask for pairs::full");
      cells.make_records();
      if (ordered) cells.rank();
      in_ = cells.view(which == pairs::half);
      set_bytes(counters_, 0, 1);
      out_.counters = counters_;
    }

    /// Nobody asks for the answer: counters stay on the device, and a graph may run the search again.
    void expect_no_answer() { out_.counters_for_host = counters_; }

    /// Searches only n items from number `first` on, which begin at `item_begin`.
    void narrow(std::uint32_t const* item_begin, std::uint32_t first, std::uint32_t n)
    {
      in_.item_begin = item_begin;
      if (in_.item_cell) in_.item_cell += first;
      if (in_.item_wide_cell) in_.item_wide_cell += first;
      if (in_.item_system) in_.item_system += first;
      in_.n_items = n;
    }

    [[nodiscard]] search_output& out() { return out_; }
    [[nodiscard]] std::uint32_t n_items() const { return in_.n_items; }
    /// The number of items that there are.
    [[nodiscard]] item_count item_number() const { return {in_.n_items, in_.items_found, 1}; }
    [[nodiscard]] cuda_stream stream() const { return stream_; }

    template <search_stage Stage>
    void launch()
    {
      std::uint32_t const n_items = out_.only_items ? out_.n_only_items : in_.n_items;
      if (n_items == 0) return;
      unsigned const blocks =
          std::min(blocks_for(n_items, search_warps), search_blocks * multiprocessors());
      if (Stage != search_stage::fill && !out_.counters_for_host)
        out_.counters_for_host = new (cells_.mail().of_search) search_counters{};
      if (cells_.is_fixed() && !out_.only_items) clear_counts();
      auto const kernel = in_.systems  ? &search_kernel<T, Dim, Stage, search_space::batch>
                          : in_.images ? &search_kernel<T, Dim, Stage, search_space::periodic>
                          : in_.geometry.group > 2
                              ? &search_kernel<T, Dim, Stage, search_space::sparse>
                              : &search_kernel<T, Dim, Stage, search_space::open>;
      kernel<<<blocks, search_threads, 0, stream_>>>(in_, definition_of(cells_, filter_), out_);
      check_cuda(cudaGetLastError(), "radius_search: search_kernel");
      end_stage(Stage == search_stage::fill ? "fill" : "count", stream_);
    }

    /// The counts of the last launch. After a count it waits for that kernel only.
    search_counters answer()
    {
      search_counters found{};
      if (in_.n_items == 0) return found;
      cells_.check_capacity();
      if (out_.counters_for_host)
      {
        wait_for_word(out_.counters_for_host->blocks_done, stream_, "radius_search: a kernel");
        return *out_.counters_for_host;
      }
      device_copy(&found, counters_, sizeof found, stream_);
      return found;
    }

  private:
    static_assert(sizeof(search_counters) <= search_bytes);

    template <class V>
    void set_bytes(V* values, int byte, std::size_t n) const
    {
      if (values)
        check_cuda(cudaMemsetAsync(values, byte, n * sizeof(V), stream_), "cudaMemsetAsync");
    }
    /// Of places for items that are not there, and of rows, if the cells did not fit.
    void clear_counts() const
    {
      set_bytes(out_.row_of_index, 0, cells_.targets().n);
      set_bytes(out_.row_of_position, 0, cells_.targets().n);
      set_bytes(out_.item_pairs, 0, in_.n_items);
    }

    cells_on_gpu<T, Dim>& cells_;
    device_filter<T> const* filter_;
    cuda_stream stream_;
    search_counters* counters_; ///< in device memory
    device_cell_view in_{};
    search_output out_;
  };
}
