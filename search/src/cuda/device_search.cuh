#pragma once

#include "device_search_run.cuh"
#include "expand.hpp"
#include "launch.cuh"
#include "scans.hpp"
#include "trace.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/search/outputs.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// \file
/// The outputs of a search: each is a few steps around the search kernel.

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

  /// A column of indices of 32 or 64 bits.
  struct index_places
  {
    void* first;
    std::ptrdiff_t stride;
    bool is_wide;

    __device__ void put(std::uint64_t p, std::uint32_t index) const
    {
      auto const at = static_cast<std::ptrdiff_t>(p) * stride;
      if (is_wide)
        __stcs(static_cast<std::uint64_t*>(first) + at, std::uint64_t(index));
      else
        __stcs(static_cast<std::uint32_t*>(first) + at, index);
    }
  };

  /// The columns that are made of pairs once these are written; null: not asked for.
  template <class T, int Dim>
  struct made_columns
  {
    index_places i, j;
    strided_column<T> r2, r;
    std::array<strided_column<T>, Dim> displacements, to_j;
    std::array<strided_column<std::int32_t>, Dim> images;
    strided_column<std::uint32_t> packed;
    std::uint32_t* too_large; ///< becomes 1 if an image cannot be packed

    [[nodiscard]] __host__ __device__ bool have_geometry() const
    {
      return r2.first || r.first || displacements[0].first || to_j[0].first;
    }
    [[nodiscard]] __host__ __device__ bool have_images() const
    {
      return images[0].first || packed.first;
    }
    [[nodiscard]] bool any() const
    {
      return i.first || j.first || have_geometry() || have_images();
    }
  };

  /// What images are made of: counters by shift, and those of points by index; null where there are none.
  template <int Dim>
  struct image_parts
  {
    image_counters<Dim> const* of_shifts;
    counters_of_points<Dim> of_targets, of_sources;

    /// `first_image`: where the images of a system begin.
    __device__ image_counters<Dim> image(std::uint32_t i, std::uint32_t j, std::uint32_t shift,
                                         std::uint32_t first_image) const
    {
      image_counters<Dim> sum{}, of_point{};
      if (shift != 0)
        for (int a = 0; a < Dim; ++a) sum[a] = of_shifts[first_image + shift][a];
      if (of_targets.any())
      {
        of_point = of_targets[i];
        for (int a = 0; a < Dim; ++a) sum[a] += of_point[a];
      }
      if (of_sources.any())
      {
        of_point = of_sources[j];
        for (int a = 0; a < Dim; ++a) sum[a] -= of_point[a];
      }
      return sum;
    }
  };

  template <class V>
  __device__ void put(strided_column<V> const& column, std::uint64_t p, V value)
  {
    if (column.first) __stcs(&column[p], value);
  }
  __device__ inline float rounded_root(float x)
  {
    return __fsqrt_rn(x);
  }
  __device__ inline double rounded_root(double x)
  {
    return __dsqrt_rn(x);
  }

  /// Of a batch, system_of_target is the system of each target.
  template <class T, int Dim, bool Batch>
  __global__ void make_columns(__grid_constant__ pair_definition<T, Dim> const pair,
                               __grid_constant__ image_parts<Dim> const images,
                               std::uint32_t const* system_of_target, pair_columns const of,
                               written_pairs const written,
                               __grid_constant__ made_columns<T, Dim> const to)
  {
    bool const geometry = to.have_geometry(), from_words = of.images.packed,
               from_points = to.have_images() && !from_words,
               reads_system = Batch && (geometry || from_points),
               reads_i = to.i.first || geometry || reads_system ||
                         (from_points && images.of_targets.any()),
               reads_j = to.j.first || geometry || (from_points && images.of_sources.any());
    std::uint64_t const stride = gridDim.x * std::uint64_t(block_threads), n = written.n();
    for (std::uint64_t p = blockIdx.x * std::uint64_t(block_threads) + threadIdx.x; p < n;
         p += stride)
    {
      std::uint32_t const i = reads_i ? of.i[p] : 0, j = reads_j ? of.j[p] : 0,
                          shift = of.images.shift ? of.images.shift[p] : 0;
      std::uint32_t const s = reads_system ? system_of_target[i] : 0;
      if (to.i.first) to.i.put(p, i);
      if (to.j.first) to.j.put(p, j);
      if (geometry)
      {
        pair_system<T, Dim> const system = pair.template system<Batch>(s);
        T const r2 = pair.distance_squared(system, i, j, shift);
        put(to.r2, p, r2);
        if (to.r.first) put(to.r, p, rounded_root(r2));
#pragma unroll
        for (int a = 0; a < Dim; ++a)
        {
          T const d = pair.difference(system, a, i, j, shift) + T(0); // -0 becomes 0
          put(to.displacements[a], p, d);
          put(to.to_j[a], p, T(0) - d);
        }
      }
      if (!to.have_images()) continue;
      image_counters<Dim> image;
      if (from_words)
      {
        std::uint32_t const word = __ldcs(of.images.packed + p);
#pragma unroll
        for (int a = 0; a < Dim; ++a) image[a] = counter_of_word(word, a);
      }
      else
        image = images.image(i, j, shift, Batch ? pair.systems[s].first_image : 0);
#pragma unroll
      for (int a = 0; a < Dim; ++a) put(to.images[a], p, image[a]);
      if (to.packed.first)
      {
        if (!fits_word(image)) *to.too_large = 1;
        put(to.packed, p, packed_word(image));
      }
    }
  }

  /// What points add to words of images, by position (image_output).
  template <int Dim>
  __global__ void words_of_points(counters_of_points<Dim> const counters,
                                  std::uint32_t const* order, std::uint32_t n, std::uint32_t* words)
  {
    std::uint32_t const p = thread_index();
    if (p < n) words[p] = counters.packed[order[p]] - packed_word(image_counters<Dim>());
  }

  /// Whether the images of all pairs fit into 10 bits an axis, and their opposites.
  template <class T, int Dim>
  bool images_fit(cells_on_gpu<T, Dim> const& cells)
  {
    return cells.images().most() <= counters_of_points<Dim>::most_of_images &&
           cells.target_images().are_near && cells.source_images().are_near;
  }

  /// Makes columns of pairs. Throws nearfield::error for images that cannot be packed.
  template <class T, int Dim>
  void put_columns(cells_on_gpu<T, Dim> const& cells, made_columns<T, Dim> to,
                   pair_columns const& of, written_pairs const& written)
  {
    cuda_stream const stream = cells.stream();
    bool const may_be_large = to.packed.first && !images_fit(cells);
    device_array<std::uint32_t> too_large(may_be_large ? 1 : 0, stream, "radius_search: images");
    if (may_be_large) device_clear(too_large.data(), sizeof(std::uint32_t), stream);
    to.too_large = too_large.data();
    auto const blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(written.room / block_threads + 1, 1 << 16));
    auto const kernel =
        cells.is_batch() ? &make_columns<T, Dim, true> : &make_columns<T, Dim, false>;
    kernel<<<blocks, block_threads, 0, stream>>>(
        definition_of(cells),
        {cells.images().counters(), cells.target_images(), cells.source_images()},
        cells.system_of_target(), of, written, to);
    check_cuda(cudaGetLastError(), "radius_search: make_columns");
    std::uint32_t is_too_large = 0;
    if (may_be_large) device_copy(&is_too_large, too_large.data(), sizeof is_too_large, stream);
    if (is_too_large != 0)
      throw error("radius_search: a pair is too many vectors of the box apart, and packed images "
                  "hold -512 to 511; ask for image_columns::counters");
  }

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

    void expand(pair_columns columns)
    {
      auto const* const target_order = cells_.targets().order.data();
      auto const* const source_order = cells_.sources().order.data();
      auto const* const heads = masks_->heads.data();
      auto const* const words = masks_->masks.data();
      std::uint32_t const n_items = run_.n_items();
      search_output& out = run_.out();
      row_masks rows{heads, words, nullptr, n_items, nullptr, nullptr, nullptr, offsets_};
      if (of_.by_rows)
        columns.i = nullptr; // in order, afterwards
      else
      {
        expand_masks(heads, n_items, words, offsets_, target_order, source_order, columns, stream_);
        end_stage("expand", stream_);
        rows = {heads,    words,        many_.data(), n_items, &out.counters->items_of_many_batches,
                offsets_, rows_.data(), nullptr};
        if (found_)
        {
          rows.n_items = found_->items_of_many_batches;
          rows.found_items = nullptr;
        }
      }
      expand_rows(rows, target_order, source_order, columns, stream_);
      end_stage("expand rows", stream_);
      if (found_ && found_->items_without_masks == 0) return;
      out.only_items = masks_->unmasked.data();
      out.n_only_items = found_ ? found_->items_without_masks : n_items;
      out.found_only_items = found_ ? nullptr : &out.counters->items_without_masks;
      (of_.by_rows ? out.row_offsets : out.item_offsets) = offsets_;
      out.out_i = columns.i;
      out.out_j = columns.j;
      out.images = columns.images;
      out.room = columns.room;
      run_.template launch<search_stage::fill>();
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

  template <class V>
  soa<V, 1> column_of(device_array<V>& values)
  {
    return {{values.data()}, values.size()};
  }

  /// Makes the columns of a list of n pairs that the options ask for.
  template <class T, int Dim, class Options>
  to_arrays<T, Dim> make_geometry(Options const& what, std::uint64_t n, cuda_stream stream,
                                  device_pair_geometry<T, Dim>& result)
  {
    to_arrays<T, Dim> to;
    auto const columns =
        [&]<class V, std::size_t N>(std::array<device_array<V>, N>& arrays, char const* name)
    {
      std::array<V*, N> first;
      for (std::size_t a = 0; a < N; ++a)
      {
        arrays[a] = device_array<V>(n, stream, name);
        first[a] = arrays[a].data();
      }
      return soa<V, int(N)>(first, n);
    };
    if (what.distances)
    {
      result.r2 = device_array<T>(n, stream, "radius_search: r2");
      to.r2 = column_of(result.r2);
    }
    if (what.displacements)
      to.displacements = columns(result.displacements, "radius_search: displacements");
    if (what.images == image_columns::counters)
      to.images = columns(result.images, "radius_search: images");
    if (what.images == image_columns::packed)
    {
      result.packed_images = device_array<std::uint32_t>(n, stream, "radius_search: images");
      to.packed_images = column_of(result.packed_images);
    }
    return to;
  }

  template <class T, int Dim>
  device_counts search(cells_on_gpu<T, Dim>& cells, count_pairs const& what,
                       device_filter<T> const* filter)
  {
    device_search_run<T, Dim> run(cells, what.which, what.per_point && what.which == pairs::half,
                                  filter);
    device_counts result;
    if (what.per_point)
    {
      result.per_point =
          device_array<index_type>(cells.targets().n, run.stream(), "radius_search: counts");
      run.out().row_of_index = result.per_point.data();
    }
    run.template launch<search_stage::count>();
    result.total = run.answer().pairs;
    return result;
  }

  template <class Options>
  list_content content_of(Options const& what, bool by_rows)
  {
    return {what.which, by_rows, what.sorted, what.distances || what.displacements, what.images};
  }

  template <class T, int Dim>
  device_coo<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_coo const& what,
                            device_filter<T> const* filter)
  {
    counted_pairs<T, Dim> list(cells, content_of(what, false), filter);
    std::uint64_t const n = list.answer().pairs;
    check_bytes(n, n * (2 * sizeof(index_type) + geometry_bytes<T, Dim>(what)), what.max_bytes);
    device_coo<T, Dim> result;
    if (n == 0) return result;
    result.i = device_array<index_type>(n, cells.stream(), "radius_search: i");
    result.j = device_array<index_type>(n, cells.stream(), "radius_search: j");
    to_arrays<T, Dim> to = make_geometry<T, Dim>(what, n, cells.stream(), result);
    to.i = column_of(result.i);
    to.j = column_of(result.j);
    list.write(to, n);
    return result;
  }

  template <class T, int Dim>
  device_csr<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_csr const& what,
                            device_filter<T> const* filter)
  {
    device_csr<T, Dim> result;
    result.offsets = device_array<std::uint64_t>(cells.targets().n + std::size_t(1), cells.stream(),
                                                 "radius_search: offsets");
    counted_pairs<T, Dim> list(cells, content_of(what, true), filter, result.offsets.data());
    search_counters const found = list.answer();
    std::uint64_t const n = found.pairs;
    check_bytes(n,
                result.offsets.size() * sizeof(std::uint64_t) +
                    n * (sizeof(index_type) + geometry_bytes<T, Dim>(what)),
                what.max_bytes);
    if (n == 0) return result;
    if (found.items_without_masks == 0) cells.free_records();
    result.columns = device_array<index_type>(n, cells.stream(), "radius_search: columns");
    to_arrays<T, Dim> to = make_geometry<T, Dim>(what, n, cells.stream(), result);
    to.j = column_of(result.columns);
    list.write(to, n);
    return result;
  }

  /// Writes the number of pairs to n_pairs, in device memory, or, if that is null, waits for it and returns it.
  template <class T, int Dim>
  std::uint64_t write_arrays(cells_on_gpu<T, Dim>& cells, to_arrays<T, Dim> const& what,
                             device_filter<T> const* filter, std::uint64_t* n_pairs)
  {
    std::uint64_t const size = check_arrays(what, cells.targets().n);
    if (n_pairs && what.packed_images.size() > 0 && !images_fit(cells))
      throw error(
          "to_arrays: points are so many boxes away that .packed_images may not hold S; give "
          ".images, or let the search return the number of pairs");
    list_content const content{
        what.which,
        what.order != pair_order::cells,
        what.order == pair_order::sorted,
        what.r2.size() + what.r.size() + what.displacements.size() + what.to_j.size() > 0,
        what.packed_images.size() > 0 ? image_columns::packed
        : what.images.size() > 0      ? image_columns::counters
                                      : image_columns::none,
        n_pairs == nullptr};
    counted_pairs<T, Dim> list(cells, content, filter,
                               what.offsets.size() > 0 ? what.offsets[0] : nullptr);
    std::uint64_t const n = n_pairs ? 0 : list.answer().pairs;
    if (n_pairs) device_copy_async(n_pairs, list.n_pairs(), sizeof n, cells.stream());
    list.write(what, size);
    return n;
  }
  template <class T, int Dim>
  std::uint64_t search(cells_on_gpu<T, Dim>& cells, to_arrays<T, Dim> const& what,
                       device_filter<T> const* filter)
  {
    return write_arrays<T, Dim>(cells, what, filter, nullptr);
  }
  template <class T, int Dim>
  void search(cells_on_gpu<T, Dim>& cells, counted_on_device<T, Dim> const& what,
              device_filter<T> const* filter)
  {
    if (!what.n_pairs)
      throw error("radius_search: n_pairs is null; give a number in device memory");
    write_arrays<T, Dim>(cells, what.to, filter, what.n_pairs);
  }

  template <class T, int Dim>
  device_table search(cells_on_gpu<T, Dim>& cells, to_table const& what,
                      device_filter<T> const* filter)
  {
    device_search_run<T, Dim> run(cells, what.which, true, filter);
    cuda_stream const stream = run.stream();
    std::uint64_t const n = cells.targets().n;
    check_table_size(what, n);
    device_table result;
    result.width = what.width;
    if (n == 0) return result;
    result.counts = device_array<index_type>(n, stream, "radius_search: counts");
    result.columns = device_array<index_type>(n * what.width, stream, "radius_search: columns");
    search_output& out = run.out();
    out.width = what.width;
    out.row_of_index = result.counts.data();
    out.out_j = result.columns.data();
    run.template launch<search_stage::fill>();
    result.overflow = run.answer().longest != 0;
    return result;
  }

  template <class T, int Dim>
  void search(cells_on_gpu<T, Dim>& cells, to_rows const& what, device_filter<T> const* filter)
  {
    std::uint64_t const n = cells.targets().n, n_columns = n * what.width;
    auto const check = [](char const* name, auto const& given, std::uint64_t expected)
    {
      if (given.size() != expected || (expected > 0 && !given.data()))
        throw error(std::string("to_rows: .") + name + " has " + std::to_string(given.size()) +
                    " values in device memory, or is null; expected " + std::to_string(expected));
    };
    check("counts", what.counts, n);
    check("columns", what.columns, n_columns);
    device_search_run<T, Dim> run(cells, what.which, what.width > 0 || what.which == pairs::half,
                                  filter);
    run.expect_no_answer();
    search_output& out = run.out();
    out.row_of_index = what.counts.data();
    out.width = what.width;
    out.out_j = what.columns.data();
    if (what.width > 0)
      run.template launch<search_stage::fill>();
    else
      run.template launch<search_stage::count>();
    if (what.longest)
      device_copy_async(what.longest, &out.counters->longest, sizeof *what.longest, run.stream());
  }

  template <class Result, class T, int Dim, class Sink>
  Result device_search(device_cells<T, Dim>& cells, Sink const& what,
                       device_filter<T> const* filter)
  {
    // what make() made: there are no other cells
    return search(static_cast<cells_on_gpu<T, Dim>&>(cells), what, filter);
  }
}
