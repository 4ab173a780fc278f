#pragma once

#include "device_search_run.cuh"
#include "expand.hpp"
#include "launch.cuh"
#include "scans.hpp"
#include "trace.hpp"

#include <nearfield/search/outputs.hpp>

/// \file
/// The outputs of a search: each is a few steps around the search kernel.

namespace nearfield::detail
{
  /// Words of masks per point. Uniform points with 110 neighbours take 9.7 (half) and 18.3 (full); a
  /// Plummer sphere, where many items have few points, takes 11.7 and 21.6. Items for which there is no
  /// room are searched twice.
  inline std::uint64_t mask_words_per_point(pairs which)
  {
    return which == pairs::half ? 12 : 22;
  }

  /// Memory for the masks of one search.
  struct mask_arrays
  {
    device_array<mask_head> heads;
    device_array<std::uint32_t> masks, unmasked;

    mask_arrays(search_output& out, pairs which, std::uint32_t n, std::uint32_t n_items,
                cuda_stream stream)
        : heads(n_items, stream, "radius_search: masks"),
          masks(mask_words_per_point(which) * n, stream, "radius_search: masks"),
          unmasked(n_items, stream, "radius_search: masks")
    {
      out.mask_capacity = masks.size();
      out.heads = heads.data();
      out.masks = masks.data();
      out.unmasked_items = unmasked.data();
    }
  };

  template <class T, int Dim>
  __global__ void geometry_kernel(pair_definition<T, Dim> pair, std::uint32_t const* i,
                                  std::uint32_t const* j, std::uint64_t n, T* r2,
                                  std::array<T*, Dim> displacements)
  {
    std::uint64_t const stride = gridDim.x * std::uint64_t(block_threads);
    for (std::uint64_t p = blockIdx.x * std::uint64_t(block_threads) + threadIdx.x; p < n;
         p += stride)
    {
      if (r2) __stcs(r2 + p, pair.distance_squared(i[p], j[p]));
      if (displacements[0])
#pragma unroll
        for (int a = 0; a < Dim; ++a) // 0 - -0 and -0 - 0 are both 0
          __stcs(displacements[a] + p, pair.difference(a, i[p], j[p]) + T(0));
    }
  }

  /// Computes the columns that the options ask for.
  template <class T, int Dim, class Options>
  void add_geometry(cells_on_gpu<T, Dim>& cells, Options const& what, std::uint32_t const* i,
                    std::uint32_t const* j, std::uint64_t n, device_pair_geometry<T, Dim>& to)
  {
    if (n == 0 || (!what.distances && !what.displacements)) return;
    std::array<T*, Dim> columns{};
    if (what.distances) to.r2 = device_array<T>(n, cells.stream(), "radius_search: r2");
    for (int a = 0; a < Dim && what.displacements; ++a)
    {
      to.displacements[a] = device_array<T>(n, cells.stream(), "radius_search: displacements");
      columns[a] = to.displacements[a].data();
    }
    unsigned const blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(n / block_threads + 1, 1 << 16));
    geometry_kernel<T, Dim><<<blocks, block_threads, 0, cells.stream()>>>(
        definition_of(cells), i, j, n, to.r2.data(), columns);
    check_cuda(cudaGetLastError(), "radius_search: geometry_kernel");
  }

  template <class T, int Dim>
  device_counts search(cells_on_gpu<T, Dim>& cells, count_pairs const& what)
  {
    device_search_run<T, Dim> run(cells, what.which, what.per_point && what.which == pairs::half);
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
  device_coo<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_coo const& what)
  {
    device_search_run<T, Dim> run(cells, what.which, true);
    cuda_stream const stream = run.stream();
    std::uint32_t const n_items = run.n_items(), n = cells.targets().n;
    search_output& out = run.out();
    device_array<std::uint64_t> item_pairs(n_items, stream, "radius_search: items");
    device_array<std::uint64_t> item_offsets(n_items + 1, stream, "radius_search: items");
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    out.item_pairs = item_pairs.data();
    out.row_of_position = rows.data();

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
    auto const* const target_order = cells.targets().order.data();
    auto const* const source_order = cells.sources().order.data();
    if (found.items_of_many_batches < n_items)
      expand_masks(masks.heads.data(), n_items, masks.masks.data(), item_offsets.data(),
                   target_order, source_order, result.i.data(), result.j.data(), stream);
    end_stage("expand", stream);
    expand_rows({masks.heads.data(), masks.masks.data(), many.data(), found.items_of_many_batches,
                 item_offsets.data(), rows.data(), nullptr},
                target_order, source_order, result.i.data(), result.j.data(), stream);
    end_stage("expand rows", stream);
    if (found.items_without_masks > 0)
    {
      out.only_items = masks.unmasked.data();
      out.n_only_items = found.items_without_masks;
      out.item_offsets = item_offsets.data();
      out.out_i = result.i.data();
      out.out_j = result.j.data();
      run.template launch<search_stage::fill>();
    }
    if (what.sorted)
    {
      masks.heads = {};
      masks.masks = {};
      device_array<std::uint64_t> keys(n_pairs, stream, "radius_search: sort");
      keys_of_pairs(result.i.data(), result.j.data(), keys.data(), n_pairs,
                    what.which == pairs::half, stream);
      sort_keys(keys);
      pairs_of_keys(keys.data(), result.i.data(), result.j.data(), n_pairs, stream);
    }
    add_geometry(cells, what, result.i.data(), result.j.data(), n_pairs, result);
    return result;
  }

  template <class T, int Dim>
  device_csr<T, Dim> search(cells_on_gpu<T, Dim>& cells, to_csr const& what)
  {
    device_search_run<T, Dim> run(cells, what.which, true);
    cuda_stream const stream = run.stream();
    std::uint32_t const n = cells.targets().n;
    search_output& out = run.out();
    device_csr<T, Dim> result;
    result.offsets =
        device_array<std::uint64_t>(n + std::size_t(1), stream, "radius_search: offsets");
    device_array<std::uint32_t> rows(n, stream, "radius_search: rows");
    out.row_of_index = rows.data();
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
    expand_rows({masks.heads.data(), masks.masks.data(), nullptr, run.n_items(), nullptr, nullptr,
                 result.offsets.data()},
                cells.targets().order.data(), cells.sources().order.data(), nullptr,
                result.columns.data(), stream);
    end_stage("expand rows", stream);
    if (found.items_without_masks > 0)
    {
      out.row_of_index = nullptr;
      out.only_items = masks.unmasked.data();
      out.n_only_items = found.items_without_masks;
      out.row_offsets = result.offsets.data();
      out.out_j = result.columns.data();
      run.template launch<search_stage::fill>();
    }
    masks.heads = {};
    masks.masks = {};
    if (!what.sorted && !what.distances && !what.displacements) return result;

    device_array<std::uint32_t> i(n_pairs, stream, "radius_search: rows");
    rows_of_entries(result.offsets.data(), n, i.data(), stream);
    if (what.sorted)
    {
      device_array<std::uint64_t> keys(n_pairs, stream, "radius_search: sort");
      keys_of_pairs(i.data(), result.columns.data(), keys.data(), n_pairs, false, stream);
      sort_keys(keys);
      pairs_of_keys(keys.data(), nullptr, result.columns.data(), n_pairs, stream);
    }
    add_geometry(cells, what, i.data(), result.columns.data(), n_pairs, result);
    return result;
  }

  template <class T, int Dim>
  device_table search(cells_on_gpu<T, Dim>& cells, to_table const& what)
  {
    device_search_run<T, Dim> run(cells, what.which, true);
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
    result.overflow = run.answer().overflow != 0;
    return result;
  }

  template <class Result, class T, int Dim, class Sink>
  Result device_search(device_cells<T, Dim>& cells, Sink const& what)
  {
    // what make() made: there are no other cells
    return search(static_cast<cells_on_gpu<T, Dim>&>(cells), what);
  }
}
