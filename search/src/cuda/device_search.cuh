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
#include <cstdint>
#include <string>
#include <type_traits>

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

  /// The columns that depend on the image of a pair; null: not asked for.
  template <class T, int Dim>
  struct geometry_columns
  {
    T* r2;
    std::array<T*, Dim> displacements;
    std::array<std::int32_t*, Dim> images;
    std::uint32_t* packed;
    std::uint32_t* too_large; ///< becomes 1 if an image cannot be packed
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

  /// Of a batch, system_of_target is the system of each target.
  template <class T, int Dim, bool Batch>
  __global__ void geometry_kernel(__grid_constant__ pair_definition<T, Dim> const pair,
                                  __grid_constant__ image_parts<Dim> const images,
                                  std::uint32_t const* system_of_target, pair_columns const of,
                                  std::uint64_t n,
                                  __grid_constant__ geometry_columns<T, Dim> const to)
  {
    bool const reads_i = Batch || to.r2 || to.displacements[0] || images.of_targets.any(),
               reads_j = to.r2 || to.displacements[0] || images.of_sources.any();
    std::uint64_t const stride = gridDim.x * std::uint64_t(block_threads);
    for (std::uint64_t p = blockIdx.x * std::uint64_t(block_threads) + threadIdx.x; p < n;
         p += stride)
    {
      std::uint32_t const i = reads_i ? of.i[p] : 0, j = reads_j ? of.j[p] : 0,
                          shift = of.images.shift ? of.images.shift[p] : 0;
      std::uint32_t const s = Batch ? system_of_target[i] : 0;
      pair_system<T, Dim> const system = pair.template system<Batch>(s);
      if (to.r2) __stcs(to.r2 + p, pair.distance_squared(system, i, j, shift));
      if (to.displacements[0])
#pragma unroll
        for (int a = 0; a < Dim; ++a) // 0 - -0 and -0 - 0 are both 0
          __stcs(to.displacements[a] + p, pair.difference(system, a, i, j, shift) + T(0));
      if (!to.images[0] && !to.packed) continue;
      image_counters<Dim> const image =
          images.image(i, j, shift, Batch ? pair.systems[s].first_image : 0);
      if (to.images[0])
#pragma unroll
        for (int a = 0; a < Dim; ++a) __stcs(to.images[a] + p, image[a]);
      if (to.packed)
      {
        if (!fits_word(image)) *to.too_large = 1;
        __stcs(to.packed + p, packed_word(image));
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

  template <class T, int Dim>
  void make_image_columns(image_columns images, std::uint64_t n, cuda_stream stream,
                          device_pair_geometry<T, Dim>& to)
  {
    if (images == image_columns::packed)
      to.packed_images = device_array<std::uint32_t>(n, stream, "radius_search: images");
    if (images == image_columns::counters)
      for (auto& column : to.images)
        column = device_array<std::int32_t>(n, stream, "radius_search: images");
  }

  /// From packed images in the first column to counters in all.
  template <int Dim>
  __global__ void unpack_images(std::array<std::int32_t*, Dim> const columns, std::uint64_t n)
  {
    std::uint64_t const stride = gridDim.x * std::uint64_t(block_threads);
    for (std::uint64_t p = blockIdx.x * std::uint64_t(block_threads) + threadIdx.x; p < n;
         p += stride)
    {
      auto const word = static_cast<std::uint32_t>(__ldcs(columns[0] + p));
#pragma unroll
      for (int a = 0; a < Dim; ++a) __stcs(columns[a] + p, counter_of_word(word, a));
    }
  }

  /// Whether the images of all pairs fit into 10 bits an axis, and their opposites.
  template <class T, int Dim>
  bool images_fit(cells_on_gpu<T, Dim> const& cells)
  {
    return cells.images().most() <= counters_of_points<Dim>::most_of_images &&
           cells.target_images().are_near && cells.source_images().are_near;
  }

  /// What the writers of a list make of the images of its pairs, and the memory for it.
  template <class T, int Dim>
  class written_images
  {
  public:
    template <class Options>
    written_images(cells_on_gpu<T, Dim> const& cells, Options const& what)
        : images_(what.images), needed_(cells.images().moves() &&
                                        (what.distances || what.displacements || has_images(what))),
          whole_(needed_ && has_images(what) && !what.distances && !what.displacements &&
                 !what.sorted && images_fit(cells))
    {}

    /// Whether writers need the shifts of pairs.
    [[nodiscard]] bool needed() const { return needed_; }
    /// Whether S is among what they write: then add_geometry() has nothing to do.
    [[nodiscard]] bool whole() const { return whole_; }

    /// Makes the columns of a list of n pairs.
    image_output make(cells_on_gpu<T, Dim> const& cells, std::uint64_t n,
                      device_pair_geometry<T, Dim>& result)
    {
      image_output out;
      cuda_stream const stream = cells.stream();
      if (needed_ && !whole_)
      {
        shifts = device_array<unsigned short>(n, stream, "radius_search: images");
        out.shift = shifts.data();
      }
      if (!whole_) return out;
      make_image_columns(images_, n, stream, result);
      // rows go to many places: one column there, and a pass over all three in order, is faster than three
      out.packed = images_ == image_columns::packed
                       ? result.packed_images.data()
                       : reinterpret_cast<std::uint32_t*>(result.images[0].data());
      out.of_shifts = cells.images().packed();
      out.item_system = cells.targets().item_system.data();
      out.systems = cells.systems_on_device().systems.data();
      out.of_targets = words(of_targets_, cells.target_images(), cells.targets(), stream);
      out.of_sources = cells.one_set()
                           ? out.of_targets
                           : words(of_sources_, cells.source_images(), cells.sources(), stream);
      return out;
    }

    /// Completes the columns when the pairs are written.
    void finish(device_pair_geometry<T, Dim>& result, cuda_stream stream) const
    {
      if (!whole_ || images_ != image_columns::counters) return;
      std::array<std::int32_t*, Dim> columns;
      for (int a = 0; a < Dim; ++a) columns[a] = result.images[a].data();
      std::uint64_t const n = result.images[0].size();
      unsigned const blocks =
          static_cast<unsigned>(std::min<std::uint64_t>(n / block_threads + 1, 1 << 16));
      unpack_images<Dim><<<blocks, block_threads, 0, stream>>>(columns, n);
      check_cuda(cudaGetLastError(), "radius_search: unpack_images");
    }

    device_array<unsigned short> shifts;

  private:
    static std::uint32_t const* words(device_array<std::uint32_t>& to,
                                      counters_of_points<Dim> const& counters,
                                      sorted_points const& points, cuda_stream stream)
    {
      if (!counters.any()) return nullptr;
      to = device_array<std::uint32_t>(points.n, stream, "radius_search: images");
      words_of_points<Dim><<<blocks_for(points.n, block_threads), block_threads, 0, stream>>>(
          counters, points.order.data(), points.n, to.data());
      check_cuda(cudaGetLastError(), "radius_search: words_of_points");
      return to.data();
    }

    image_columns images_;
    bool needed_, whole_;
    device_array<std::uint32_t> of_targets_, of_sources_;
  };

  /// Computes columns of n > 0 pairs. Throws nearfield::error for images that cannot be packed.
  template <class T, int Dim>
  void put_geometry(cells_on_gpu<T, Dim>& cells, geometry_columns<T, Dim> columns,
                    pair_columns const& of, std::uint64_t n)
  {
    cuda_stream const stream = cells.stream();
    image_parts<Dim> const images{cells.images().counters(), cells.target_images(),
                                  cells.source_images()};
    bool const may_be_large = columns.packed && !images_fit(cells);
    device_array<std::uint32_t> too_large(may_be_large ? 1 : 0, stream, "radius_search: images");
    if (may_be_large) device_clear(too_large.data(), sizeof(std::uint32_t), stream);
    columns.too_large = too_large.data();
    unsigned const blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(n / block_threads + 1, 1 << 16));
    auto const kernel =
        cells.is_batch() ? &geometry_kernel<T, Dim, true> : &geometry_kernel<T, Dim, false>;
    kernel<<<blocks, block_threads, 0, stream>>>(definition_of(cells), images,
                                                 cells.system_of_target(), of, n, columns);
    check_cuda(cudaGetLastError(), "radius_search: geometry_kernel");
    std::uint32_t is_too_large = 0;
    if (may_be_large) device_copy(&is_too_large, too_large.data(), sizeof is_too_large, stream);
    if (is_too_large != 0)
      throw error("radius_search: a pair is too many vectors of the box apart, and packed images "
                  "hold -512 to 511; ask for image_columns::counters");
  }

  /// Computes the columns that the options ask for. Throws nearfield::error for images that cannot be packed.
  template <class T, int Dim, class Options>
  void add_geometry(cells_on_gpu<T, Dim>& cells, Options const& what, pair_columns const& of,
                    std::uint64_t n, device_pair_geometry<T, Dim>& to)
  {
    if (n == 0 || (!what.distances && !what.displacements && !has_images(what))) return;
    cuda_stream const stream = cells.stream();
    geometry_columns<T, Dim> columns{};
    auto const make = [&](bool wanted, auto& array, auto*& column, char const* name)
    {
      if (!wanted) return;
      array = std::remove_reference_t<decltype(array)>(n, stream, name);
      column = array.data();
    };
    make(what.distances, to.r2, columns.r2, "radius_search: r2");
    make_image_columns(what.images, n, stream, to);
    for (int a = 0; a < Dim; ++a)
    {
      make(what.displacements, to.displacements[a], columns.displacements[a],
           "radius_search: displacements");
      columns.images[a] = to.images[a].data();
    }
    columns.packed = to.packed_images.data();
    put_geometry(cells, columns, of, n);
  }

  template <class T, int Dim>
  shift_numbers numbers_of_shifts(cells_on_gpu<T, Dim> const& cells)
  {
    return {cells.images().size(), cells.systems_on_device().systems.data(),
            cells.system_of_target()};
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

  template <class T, int Dim>
  device_coo<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_coo const& what,
                            device_filter<T> const* filter)
  {
    device_search_run<T, Dim> run(cells, what.which, true, filter);
    cuda_stream const stream = run.stream();
    std::uint32_t const n_items = run.n_items(), n = cells.targets().n;
    search_output& out = run.out();
    device_array<std::uint64_t> item_pairs(n_items, stream, "radius_search: items");
    device_array<std::uint64_t> item_offsets(n_items + 1, stream, "radius_search: items");
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    out.item_pairs = item_pairs.data();
    out.row_of_position = rows.data();
    written_images<T, Dim> images(cells, what);
    out.keeps_shifts = images.needed();

    mask_arrays masks(out, what.which, n, n_items, stream);
    device_array<std::uint32_t> many(n_items, stream, "radius_search: items");
    out.items_of_many_batches = many.data();
    run.template launch<search_stage::masks>();
    scan_counts(item_pairs.data(), item_offsets.data(), n_items, stream);
    search_counters const found = run.answer();
    end_stage("scan and wait", stream);
    std::uint64_t const n_pairs = found.pairs;
    std::uint64_t const per_pair = 2 * sizeof(index_type) + geometry_bytes<T, Dim>(what);
    check_bytes(n_pairs, n_pairs * per_pair, what.max_bytes);

    device_coo<T, Dim> result;
    if (n_pairs == 0) return result;
    item_pairs = {};
    result.i = device_array<index_type>(n_pairs, stream, "radius_search: i");
    result.j = device_array<index_type>(n_pairs, stream, "radius_search: j");
    pair_columns columns{result.i.data(), result.j.data(), images.make(cells, n_pairs, result)};
    auto const* const target_order = cells.targets().order.data();
    auto const* const source_order = cells.sources().order.data();
    if (found.items_of_many_batches < n_items)
      expand_masks(masks.heads.data(), n_items, masks.masks.data(), item_offsets.data(),
                   target_order, source_order, columns, stream);
    end_stage("expand", stream);
    expand_rows({masks.heads.data(), masks.masks.data(), many.data(), found.items_of_many_batches,
                 item_offsets.data(), rows.data(), nullptr},
                target_order, source_order, columns, stream);
    end_stage("expand rows", stream);
    if (found.items_without_masks > 0)
    {
      out.only_items = masks.unmasked.data();
      out.n_only_items = found.items_without_masks;
      out.item_offsets = item_offsets.data();
      out.out_i = columns.i;
      out.out_j = columns.j;
      out.images = columns.images;
      run.template launch<search_stage::fill>();
    }
    if (what.sorted)
    {
      masks.heads = {};
      masks.masks = {};
      device_array<std::uint64_t> keys(n_pairs, stream, "radius_search: sort");
      keys_of_pairs(columns, keys.data(), n_pairs, what.which == pairs::half,
                    numbers_of_shifts(cells), stream);
      sort_keys(keys, images.shifts);
      columns.images.shift = images.shifts.data();
      pairs_of_keys(keys.data(), columns.i, columns.j, n_pairs, stream);
    }
    images.finish(result, stream);
    if (!images.whole()) add_geometry(cells, what, columns, n_pairs, result);
    return result;
  }

  template <class T, int Dim>
  device_csr<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_csr const& what,
                            device_filter<T> const* filter)
  {
    device_search_run<T, Dim> run(cells, what.which, true, filter);
    cuda_stream const stream = run.stream();
    std::uint32_t const n = cells.targets().n;
    search_output& out = run.out();
    device_csr<T, Dim> result;
    result.offsets =
        device_array<std::uint64_t>(n + std::size_t(1), stream, "radius_search: offsets");
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    out.row_of_index = rows.data();
    written_images<T, Dim> images(cells, what);
    out.keeps_shifts = images.needed();
    mask_arrays masks(out, what.which, n, run.n_items(), stream);
    run.template launch<search_stage::masks>();
    scan_counts(rows.data(), result.offsets.data(), n, stream);
    search_counters const found = run.answer();
    std::uint64_t const n_pairs = found.pairs;
    end_stage("scan and wait", stream);
    std::uint64_t const per_pair = sizeof(index_type) + geometry_bytes<T, Dim>(what);
    check_bytes(n_pairs, result.offsets.size() * sizeof(std::uint64_t) + n_pairs * per_pair,
                what.max_bytes);
    if (n_pairs == 0) return result;
    rows = {};
    if (found.items_without_masks == 0) cells.free_records();
    result.columns = device_array<index_type>(n_pairs, stream, "radius_search: columns");
    pair_columns columns{nullptr, result.columns.data(), images.make(cells, n_pairs, result)};
    expand_rows({masks.heads.data(), masks.masks.data(), nullptr, run.n_items(), nullptr, nullptr,
                 result.offsets.data()},
                cells.targets().order.data(), cells.sources().order.data(), columns, stream);
    end_stage("expand rows", stream);
    if (found.items_without_masks > 0)
    {
      out.row_of_index = nullptr;
      out.only_items = masks.unmasked.data();
      out.n_only_items = found.items_without_masks;
      out.row_offsets = result.offsets.data();
      out.out_j = columns.j;
      out.images = columns.images;
      run.template launch<search_stage::fill>();
    }
    masks.heads = {};
    masks.masks = {};
    images.finish(result, stream);
    if (!what.sorted && !what.distances && !what.displacements &&
        (!has_images(what) || images.whole()))
      return result;

    // images alone need no i, if all points were inside the box
    device_array<std::uint32_t> i;
    if (what.sorted || what.distances || what.displacements || cells.target_images().any() ||
        cells.is_batch())
    {
      i = device_array<std::uint32_t>(n_pairs, stream, "radius_search: rows");
      columns.i = i.data();
      rows_of_entries(result.offsets.data(), n, columns.i, stream);
    }
    if (what.sorted)
    {
      device_array<std::uint64_t> keys(n_pairs, stream, "radius_search: sort");
      keys_of_pairs(columns, keys.data(), n_pairs, false, numbers_of_shifts(cells), stream);
      sort_keys(keys, images.shifts);
      columns.images.shift = images.shifts.data();
      pairs_of_keys(keys.data(), nullptr, columns.j, n_pairs, stream);
    }
    add_geometry(cells, what, columns, n_pairs, result);
    return result;
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
