#pragma once

#include "kept_masks.cuh"
#include "made_columns.cuh"
#include "scans.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

/// \file
/// The pairs of a list, between the count and the columns.

namespace nearfield::detail
{
  /// What a list has.
  struct list_content
  {
    pairs which;
    bool by_rows; ///< by the index of i; otherwise by its position
    bool sorted;
    bool geometry; ///< distances or displacements
    image_columns images;
    bool waits = true; ///< the host learns the number of pairs
  };

  /// The pairs of a list, counted, and kept as masks until they are written, once.
  template <class T, int Dim>
  class counted_pairs
  {
  public:
    /// `offsets` becomes where rows begin; null: in memory of its own.
    counted_pairs(cells_on_gpu<T, Dim>& cells, list_content const& of,
                  device_filter<T> const* filter, std::uint64_t* offsets = nullptr)
        : cells_(cells), of_(of), stream_(cells.stream()), run_(cells, of.which, true, filter),
          has_images_(of.images != image_columns::none),
          has_shifts_(cells.images().moves() && (of.geometry || has_images_)),
          has_words_(has_shifts_ && has_images_ && !of.geometry && !of.sorted &&
                     images_fit(cells) &&
                     (of.images == image_columns::packed || cells.is_batch() ||
                      cells.target_images().any() || cells.source_images().any())),
          rows_(cells.targets().n, stream_, "radius_search: rows"),
          masks_(std::in_place, run_.out(), of.which, cells.targets().n, run_.n_items(), stream_)
    {
      std::uint32_t const n_items = run_.n_items();
      std::size_t const n = of.by_rows ? cells.targets().n : n_items;
      if (!offsets)
      {
        own_offsets_ = device_array<std::uint64_t>(n + 1, stream_, "radius_search: offsets");
        offsets = own_offsets_.data();
      }
      offsets_ = offsets;
      n_pairs_ = offsets + n;
      search_output& out = run_.out();
      out.keeps_shifts = has_shifts_;
      if (!of.waits) run_.expect_no_answer();
      device_array<std::uint64_t> item_pairs;
      if (of.by_rows)
        out.row_of_index = rows_.data();
      else
      {
        item_pairs = device_array<std::uint64_t>(n_items, stream_, "radius_search: items");
        many_ = device_array<std::uint32_t>(n_items, stream_, "radius_search: items");
        out.row_of_position = rows_.data();
        out.item_pairs = item_pairs.data();
        out.items_of_many_batches = many_.data();
      }
      run_.template launch<search_stage::masks>();
      if (of.by_rows)
        scan_counts(rows_.data(), offsets, n, stream_);
      else
        scan_counts(item_pairs.data(), offsets, n, stream_);
      out.row_of_index = nullptr;
      out.item_pairs = nullptr;
      if (of.by_rows) rows_ = {};
    }

    /// Waits for the counts.
    search_counters const& answer()
    {
      found_ = run_.answer();
      end_stage("scan and wait", stream_);
      return *found_;
    }
    /// In device memory.
    [[nodiscard]] std::uint64_t const* n_pairs() const { return n_pairs_; }

    /// Writes the pairs to columns of `size` places, as far as there is room. Throws nearfield::error for images that cannot
    /// be packed.
    void write(to_arrays<T, Dim> const& to, std::uint64_t size)
    {
      std::uint64_t const found = found_ ? found_->pairs : size;
      // a row that does not fit is sorted whole, if its end is known
      std::uint64_t const room = of_.sorted ? found : std::min(found, size);
      if (room == 0 || size == 0) return;
      // the column itself, if writers of words can use it
      auto const dense = [&](auto const& column)
      {
        bool const is_dense = room <= size && column.stride == 1 &&
                              reinterpret_cast<std::uintptr_t>(column.first) % 16 == 0;
        return is_dense ? reinterpret_cast<std::uint32_t*>(column.first) : nullptr;
      };
      auto const given = [](auto const& view, int a = 0)
      {
        return view.size() > 0 ? view[a] : decltype(view[a]){nullptr, 1};
      };
      made_columns<T, Dim> made{};
      device_array<std::uint32_t> own_i, own_j, own_words;
      auto const or_own = [&](std::uint32_t* column, device_array<std::uint32_t>& own)
      {
        if (column) return column;
        own = device_array<std::uint32_t>(room, stream_, "radius_search: columns");
        return own.data();
      };
      auto const indices = [&](index_column const& column, index_places& places, bool needed,
                               device_array<std::uint32_t>& own)
      {
        std::uint32_t* at = nullptr;
        column.with_values(
            [&]<class I>(strided_column<I> const& values)
            {
              if constexpr (sizeof(I) == sizeof *at) at = dense(values);
              if (!at) places = {values.first, values.stride, sizeof(I) == sizeof(std::uint64_t)};
            });
        return needed || places.first ? or_own(at, own) : at;
      };
      bool const of_points =
          has_images_ && !has_words_ && (cells_.target_images().any() || cells_.is_batch());
      pair_columns columns{indices(to.i, made.i, of_.sorted || of_.geometry || of_points, own_i),
                           indices(to.j, made.j, true, own_j),
                           {},
                           found_ && found <= room ? no_bound : room};
      std::uint32_t* words = nullptr;
      if (has_words_)
      {
        words = dense(given(to.packed_images));
        if (!words) words = or_own(dense(given(to.images)), own_words);
      }
      columns.images = images_to(words, room);

      written_pairs const written{n_pairs_, room};
      expand(columns);
      if (of_.by_rows && columns.i)
        rows_of_entries(offsets_, cells_.targets().n, columns.i, room, stream_);
      masks_.reset();
      if (of_.sorted) sort(columns, written);

      made.r2 = given(to.r2);
      made.r = given(to.r);
      for (int a = 0; a < Dim; ++a)
      {
        made.displacements[a] = given(to.displacements, a);
        made.to_j[a] = given(to.to_j, a);
        made.images[a] = given(to.images, a);
      }
      made.packed = given(to.packed_images);
      if (words && made.packed.first == words) made.packed.first = nullptr;
      if (made.any()) put_columns(cells_, made, columns, {n_pairs_, std::min(room, size)});
    }

  private:
    /// Where writers put images: to words that are packed, or to the numbers of shifts.
    image_output images_to(std::uint32_t* words, std::uint64_t room)
    {
      image_output out;
      if (words)
      {
        out.packed = words;
        out.of_shifts = cells_.images().packed();
        out.item_system = cells_.targets().item_system.data();
        out.systems = cells_.systems_on_device().systems.data();
        out.of_targets = words_of(of_targets_, cells_.target_images(), cells_.targets());
        out.of_sources = cells_.one_set()
                             ? out.of_targets
                             : words_of(of_sources_, cells_.source_images(), cells_.sources());
      }
      else if (has_shifts_)
      {
        shifts_ = device_array<unsigned short>(room, stream_, "radius_search: images");
        out.shift = shifts_.data();
      }
      return out;
    }
    std::uint32_t const* words_of(device_array<std::uint32_t>& to,
                                  counters_of_points<Dim> const& counters,
                                  sorted_points const& points) const
    {
      if (!counters.any()) return nullptr;
      to = device_array<std::uint32_t>(points.n, stream_, "radius_search: images");
      words_of_points<Dim><<<blocks_for(points.n, block_threads), block_threads, 0, stream_>>>(
          counters, points.order.data(), points.n, to.data());
      check_cuda(cudaGetLastError(), "radius_search: words_of_points");
      return to.data();
    }

    void expand(pair_columns const& columns)
    {
      bool const by_rows = of_.by_rows;
      counted_items const items{.n = run_.item_number(),
                                .masks = &*masks_,
                                .many = many_.data(),
                                .found = found_ ? &*found_ : nullptr,
                                .on_device = run_.out().counters,
                                .item_offsets = by_rows ? nullptr : offsets_,
                                .row_of_position = by_rows ? nullptr : rows_.data(),
                                .row_offsets = by_rows ? offsets_ : nullptr};
      write_items(cells_, items, columns,
                  [&](auto const& change)
                  {
                    change(run_.out());
                    run_.template launch<search_stage::fill>();
                  });
    }

    void sort(pair_columns& columns, written_pairs const& written)
    {
      device_array<std::uint64_t> keys(written.room, stream_, "radius_search: sort");
      shift_numbers const numbers{cells_.images().size(), cells_.systems_on_device().systems.data(),
                                  cells_.system_of_target()};
      keys_of_pairs(columns, keys.data(), written, of_.which == pairs::half && !of_.by_rows,
                    numbers, stream_);
      sort_keys(keys, shifts_);
      columns.images.shift = shifts_.data();
      pairs_of_keys(keys.data(), of_.by_rows ? nullptr : columns.i, columns.j, written, stream_);
    }

    cells_on_gpu<T, Dim>& cells_;
    list_content of_;
    cuda_stream stream_;
    device_search_run<T, Dim> run_;
    bool has_images_; ///< S is asked for
    bool has_shifts_; ///< pairs are in images
    /// writers write packed S; otherwise numbers of images, which are shorter, but may take i and j to tell S
    bool has_words_;
    device_array<std::uint32_t> rows_, many_;
    std::optional<mask_arrays> masks_;
    device_array<std::uint64_t> own_offsets_;
    std::uint64_t *offsets_, *n_pairs_; ///< of rows, or of items
    std::optional<search_counters> found_;
    device_array<unsigned short> shifts_;
    device_array<std::uint32_t> of_targets_, of_sources_;
  };
}
