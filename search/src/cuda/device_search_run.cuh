#pragma once

#include "cells.cuh"
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
          counters_(1, stream_, "radius_search: counters")
    {
      if (which == pairs::half && !cells.one_set())
        throw error("radius_search: two sets have no half list; ask for pairs::full");
      cells.make_records();
      if (ordered) cells.rank();
      in_ = cells.view(which == pairs::half);
      check_cuda(cudaMemsetAsync(counters_.data(), 0, sizeof(search_counters), stream_),
                 "cudaMemsetAsync");
      out_.counters = counters_.data();
    }

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
    [[nodiscard]] cuda_stream stream() const { return stream_; }

    template <search_stage Stage>
    void launch()
    {
      std::uint32_t const n_items = out_.only_items ? out_.n_only_items : in_.n_items;
      if (n_items == 0) return;
      unsigned const blocks =
          std::min(blocks_for(n_items, search_warps), search_blocks * multiprocessors());
      if (Stage != search_stage::fill && !out_.counters_for_host)
      {
        auto& mail = cells_.mail().of_search;
        static_assert(sizeof(search_counters) <= sizeof mail);
        out_.counters_for_host = new (mail) search_counters{};
      }
      auto const kernel = in_.systems  ? &search_kernel<T, Dim, Stage, search_space::batch>
                          : in_.images ? &search_kernel<T, Dim, Stage, search_space::periodic>
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
      if (out_.counters_for_host)
      {
        wait_for_word(out_.counters_for_host->blocks_done, stream_, "radius_search: a kernel");
        return *out_.counters_for_host;
      }
      device_copy(&found, counters_.data(), sizeof found, stream_);
      return found;
    }

  private:
    cells_on_gpu<T, Dim>& cells_;
    device_filter<T> const* filter_;
    cuda_stream stream_;
    device_array<search_counters> counters_;
    device_cell_view in_{};
    search_output out_;
  };
}
