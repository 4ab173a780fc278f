#pragma once

#include <nearfield/search/outputs.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/search/reduce.hpp>
#include <nearfield/search/visit.hpp>
#include <nearfield/starpu/search_pieces.hpp>
#include <nearfield/starpu/search_slabs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

/// \file
/// The radius search as StarPU tasks.
///
///     nearfield::starpu::runtime starpu;
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
///     nearfield::coo const list =
///         nearfield::starpu::radius_search(starpu, cells, nearfield::to_coo{});
///
/// The cells are cut into slabs of about equal work. Results equal those of nearfield::radius_search, bit for
/// bit and in the same order, whatever the slabs and the workers. A call returns when its tasks have
/// ended, so a task must not make it; several threads may search one cell list at once. The first
/// exception of a task is rethrown; the result is then unspecified.
///
/// Tasks run on CPU workers only: results are in host memory, and copying a list from a GPU takes longer
/// than finding it there (a list of 437 MB: 0.6 ms). nearfield::radius_search(cuda, ...) searches a whole
/// cell list in the memory of a GPU. <nearfield/starpu/pair_slabs.hpp> has pairs that tasks on
/// GPUs and CPUs find and other tasks read.

namespace nearfield::starpu
{
  /// Counts pairs, one slab of cells at a time, in tasks. Throws nearfield::error, as do all overloads, for a half
  /// list of two sets, if StarPU has no CPU worker, and if a worker calls it.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, count_pairs const& what,
                     pair_counts& result, radius_search_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    result.per_point.resize(what.per_point ? view.target_order.size() : 0);
    detail::slab_search const search(starpu, view, what.which, options);
    auto const found = search.count(what.per_point ? result.per_point.data() : nullptr);
    result.total = std::accumulate(found.begin(), found.end(), std::uint64_t(0));
  }

  /// A CSR list with a row per point. Tasks count the slabs, then fill them after the list has its size, and
  /// sort blocks of rows if that is asked for. Throws nearfield::error for a result larger than max_bytes.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                     csr<T, Dim>& result, radius_search_options const& options = {})
  {
    cell_view<T, Dim> const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    detail::slab_search const search(starpu, view, what.which, options);
    std::vector<index_type> counts(view.target_order.size());
    static_cast<void>(search.count(counts.data()));
    nearfield::detail::size_rows(result, what, counts);
    search.rows(nearfield::detail::content_of(what), &nearfield::detail::put_row<T, Dim>, &result);
    if (what.sorted)
      detail::run_rows(starpu, result.size(), result.columns.size(),
                       [&](std::size_t first, std::size_t last)
                       { nearfield::detail::sort_rows(result, first, last); });
  }

  /// A table of fixed width, in one pass of tasks. Throws nearfield::error for width 0 and for a table larger than
  /// max_bytes.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, to_table const& what,
                     neighbour_table& result, radius_search_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    nearfield::detail::size_rows(result, what, view.target_order.size());
    auto const row = [](void* sink, auto const& hits)
    {
      nearfield::detail::put_table_row(sink, hits);
    };
    detail::slab_search const search(starpu, view, what.which, options);
    search.rows(nearfield::detail::row_content::indices, row, &result);
    nearfield::detail::find_overflow(result);
  }

  /// Calls f with each row once, from several threads at once.
  template <has_cell_view Cells, class F>
  void radius_search(runtime const& starpu, Cells const& cells, visit_rows<F> const& what,
                     radius_search_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    detail::slab_search const search(starpu, view, what.which, options);
    search.run(detail::search_work::fill, [&](auto const& job, std::size_t)
               { nearfield::detail::visit_rows_of(isa::best, job, what); });
  }
}

namespace nearfield::starpu::detail
{
  /// A sorted COO list: sorted CSR rows with i written out.
  template <has_cell_view Cells, class T, int Dim>
  void search_sorted(runtime const& starpu, Cells const& cells, to_coo const& what,
                     coo<T, Dim>& list, radius_search_options const& options)
  {
    csr<T, Dim> rows;
    to_csr const as_rows{pairs::full, true, what.distances, what.displacements};
    if (what.which == pairs::full)
      radius_search(starpu, cells, as_rows, rows, options);
    else
      search_upper(starpu, cells.view(), as_rows, rows, options);
    list.i.resize(rows.columns.size());
    run_rows(starpu, rows.size(), rows.columns.size(),
             [&](std::size_t first, std::size_t last)
             {
               for (std::size_t i = first; i < last; ++i)
                 std::fill(list.i.data() + rows.offsets[i], list.i.data() + rows.offsets[i + 1],
                           static_cast<index_type>(i));
             });
    list.j = std::move(rows.columns);
    static_cast<pair_geometry<T, Dim>&>(list) =
        std::move(static_cast<pair_geometry<T, Dim>&>(rows));
  }
}

namespace nearfield::starpu
{
  /// A COO list of pairs, found in one pass of tasks into address space reserved for all candidate pairs.
  /// If that would exceed max_bytes, or the system refuses the address space, slabs are counted first and
  /// filled into a list of the right size. Throws nearfield::error if the list itself exceeds max_bytes.
  ///
  /// Besides the list, each worker needs some hundred kilobytes for the slab it searches.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                     coo<T, Dim>& result, radius_search_options const& options = {})
  {
    namespace serial = nearfield::detail;
    cell_view<T, Dim> const view = cells.view();
    serial::check_pairs(view, what.which);
    detail::slab_search const search(starpu, view, what.which, options, detail::cached_candidates);
    std::uint64_t const per_pair = 2 * sizeof(index_type) + serial::geometry_bytes<T, Dim>(what);
    bool one_pass = search.candidates() <= what.max_bytes / per_pair;
    std::vector<std::uint64_t> counts;
    std::uint64_t size = 0;
    auto const count = [&]
    {
      counts = search.count(nullptr);
      size = std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
      serial::check_bytes(size, size * per_pair, what.max_bytes);
    };
    if (!one_pass) count();
    if (what.sorted) return detail::search_sorted(starpu, cells, what, result, options);
    if (one_pass && !serial::reserve(result, what, search.candidates()))
    {
      one_pass = false;
      count();
      result = {}; // some columns may hold much of what the system has
    }
    // full size in one pass, so that the writers see which columns are present
    serial::resize(result, what, one_pass ? search.candidates() : size);
    if (one_pass)
      serial::resize(result, what, detail::fill_by_pieces(search, what, result));
    else
      detail::fill_counted(search, what, counts, result);
  }

  /// The reduction over all pairs, with its parts as tasks; the result equals that of the serial call, bit for
  /// bit. Parts are combined while others are computed, so few are kept. The first exception of f or combine
  /// ends the search and is rethrown.
  template <has_cell_view Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(runtime const& starpu, Cells const& cells,
                                reduce<R, F, Combine> const& what)
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    auto const parts = nearfield::detail::cut_parts(view, what.which, what.parts);
    std::uint64_t candidates = 0;
    for (auto const& part : parts) candidates += part.candidates;
    R result = what.init;
    detail::in_order<R> sums;
    detail::run_in_tasks(starpu, detail::search_work::reduce, parts.size(), candidates,
                         [&](std::size_t p)
                         {
                           auto const job = nearfield::detail::job_of(view, what.which, parts[p]);
                           sums.put(p, nearfield::detail::reduce_part(isa::best, job, what),
                                    [&](R&& part) { what.combine(result, std::move(part)); });
                         });
    return result;
  }

  /// The number of pairs and, if asked for, of each point's pairs.
  template <has_cell_view Cells>
  [[nodiscard]] pair_counts radius_search(runtime const& starpu, Cells const& cells,
                                          count_pairs const& what,
                                          radius_search_options const& options = {})
  {
    pair_counts result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A table with room for `what.width` neighbours of each point.
  template <has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(runtime const& starpu, Cells const& cells,
                                              to_table const& what,
                                              radius_search_options const& options = {})
  {
    neighbour_table result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A CSR list with one row per point.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                                   radius_search_options const& options = {})
  {
    auto result = nearfield::detail::list_for<csr>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A COO list of pairs.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                                   radius_search_options const& options = {})
  {
    auto result = nearfield::detail::list_for<coo>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }
}
