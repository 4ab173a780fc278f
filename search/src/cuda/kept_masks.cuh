#pragma once

#include "device_search_run.cuh"
#include "expand.hpp"
#include "trace.hpp"

#include <algorithm>
#include <cstdint>

/// \file
/// The masks that a search keeps of pairs, and how these are written.

namespace nearfield::detail
{
  /// Words of masks for n points. Uniform points with 110 neighbours take 9.7 a point (half) and 18.3 (full); a
  /// Plummer sphere, where many items have few points, takes 11.7 and 21.6; small boxes, whose items meet many images,
  /// take more. Items for which there is no room are searched twice.
  inline std::uint64_t mask_words(pairs which, std::uint64_t n)
  {
    constexpr std::uint64_t little = 1 << 23; // 32 MiB
    return std::max((which == pairs::half ? 12 : 22) * n, std::min(44 * n, little));
  }

  /// Memory for the masks of one search.
  struct mask_arrays
  {
    device_array<mask_head> heads;
    device_array<std::uint32_t> masks, unmasked;

    mask_arrays(search_output& out, pairs which, std::uint32_t n, std::uint32_t n_items,
                cuda_stream stream)
        : heads(n_items, stream, "radius_search: masks"),
          masks(mask_words(which, n), stream, "radius_search: masks"),
          unmasked(n_items, stream, "radius_search: masks")
    {
      out.mask_capacity = masks.size();
      out.heads = heads.data();
      out.masks = masks.data();
      out.unmasked_items = unmasked.data();
    }
  };

  /// Items whose pairs a search has counted.
  struct counted_items
  {
    item_count n;
    mask_arrays const* masks;     ///< null: they were given up
    std::uint32_t const* many;    ///< those of several batches
    search_counters const* found; ///< null: only the device knows
    search_counters const* on_device;
    // where pairs begin: those of an item, one row after another, or by index those of a row
    std::uint64_t const* item_offsets;
    std::uint32_t* row_of_position;
    std::uint64_t const* row_offsets;
  };

  /// Writes pairs, with row_offsets without i. search_again(f) launches a fill, whose output f(out) has changed, for items
  /// without masks.
  template <class T, int Dim, class Search>
  void write_items(cells_on_gpu<T, Dim> const& cells, counted_items const& of, pair_columns columns,
                   Search const& search_again)
  {
    cuda_stream const stream = cells.stream();
    if (of.row_offsets) columns.i = nullptr;
    if (of.masks)
    {
      auto const* const target_order = cells.targets().order.data();
      auto const* const source_order = cells.sources().order.data();
      auto const* const heads = of.masks->heads.data();
      auto const* const words = of.masks->masks.data();
      row_masks rows{heads, words, nullptr, of.n, nullptr, nullptr, of.row_offsets};
      if (!of.row_offsets)
      {
        expand_masks(heads, of.n, words, of.item_offsets, target_order, source_order, columns,
                     stream);
        end_stage("expand", stream);
        rows.items = of.many;
        rows.n_items = of.found ? item_count{of.found->items_of_many_batches}
                                : item_count{of.n.most, &of.on_device->items_of_many_batches};
        rows.item_offsets = of.item_offsets;
        rows.row_of_position = of.row_of_position;
      }
      expand_rows(rows, target_order, source_order, columns, stream);
      end_stage("expand rows", stream);
      if (of.found && of.found->items_without_masks == 0) return;
    }
    search_again(
        [&](search_output& out)
        {
          if (of.masks)
          {
            out.only_items = of.masks->unmasked.data();
            out.n_only_items = of.found ? of.found->items_without_masks : of.n.most;
            out.found_only_items = of.found ? nullptr : &of.on_device->items_without_masks;
          }
          out.item_offsets = of.item_offsets;
          out.row_of_position = of.row_of_position;
          out.row_offsets = of.row_offsets;
          out.out_i = columns.i;
          out.out_j = columns.j;
          out.images = columns.images;
          out.room = columns.room;
        });
  }
}
