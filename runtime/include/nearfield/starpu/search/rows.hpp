#pragma once

#include <nearfield/search/lists.hpp>
#include <nearfield/search/visit.hpp>
#include <nearfield/starpu/search/slab_options.hpp>

#include <numeric>
#include <vector>

/// \file
/// Outputs with a row per point, which tasks write in place.

namespace nearfield::starpu
{
  /// Counts pairs, one slab of cells at a time, in tasks.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, count_pairs const& what,
                     pair_counts& result, slab_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    result.per_point.resize(what.per_point ? view.target_order.size() : 0);
    detail::slab_search const search(starpu, view, what.which, options);
    auto const found = search.count(what.per_point ? result.per_point.data() : nullptr);
    result.total = std::accumulate(found.begin(), found.end(), std::uint64_t(0));
  }

  /// A CSR list with a row per point. Tasks count the slabs, then fill them after the list has its size, and
  /// sort blocks of rows if that is asked for.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                     csr<T, Dim>& result, slab_options const& options = {})
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

  /// A table of fixed width, in one pass of tasks.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, to_table const& what,
                     neighbour_table& result, slab_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    nearfield::detail::size_table(result, what, view.target_order.size());
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
                     slab_options const& options = {})
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    detail::slab_search const search(starpu, view, what.which, options);
    search.run(detail::slab_work::fill, [&](auto const& job, std::size_t)
               { nearfield::detail::visit_rows_of(isa::best, job, what); });
  }
}
