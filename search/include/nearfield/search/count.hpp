#pragma once

#include <nearfield/search/check.hpp>

namespace nearfield
{
  /// Counts the pairs of points closer than the cutoff: in total and, if asked for, per point. The fastest
  /// output; it takes no memory but the counts. Throws nearfield::error for pairs::half with two sets.
  template <cpu_backend Backend, has_cell_view Cells>
  void radius_search(Backend backend, Cells const& cells, count_pairs const& what,
                     pair_counts& result)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    detail::write_or_empty(result,
                           [&]
                           {
                             result.per_point.resize(what.per_point ? view.target_order.size() : 0);
                             result.total = detail::count_rows(
                                 detail::isa_of(backend), detail::whole(view, what.which),
                                 what.per_point ? result.per_point.data() : nullptr);
                           });
  }

  /// As above, returning new counts.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] pair_counts radius_search(Backend backend, Cells const& cells,
                                          count_pairs const& what)
  {
    pair_counts result;
    radius_search(backend, cells, what, result);
    return result;
  }
}
