#pragma once

#include "counted_pairs.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/search/outputs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// \file
/// The outputs of a search: each is a few steps around the search kernel.

namespace nearfield::detail
{
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
