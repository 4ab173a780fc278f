#pragma once

#include <nearfield/search/check.hpp>

namespace nearfield
{
  /// Calls f(i, j, r2) for every pair closer than the cutoff, in the order of a COO list, on the calling
  /// thread, and keeps none of them. What f throws ends the search.
  template <cpu_backend Backend, has_cell_view Cells, class F>
  void radius_search(Backend backend, Cells const& cells, visit<F> what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    auto const row = [](void* f, auto const& hits)
    {
      for (index_type k = 0; k < hits.count; ++k)
        (*static_cast<std::remove_reference_t<F>*>(f))(hits.i, hits.j[k], hits.r2[k]);
    };
    detail::search_rows(detail::isa_of(backend), detail::whole(view, what.which),
                        detail::row_content::distances, detail::row_of(view, row), &what.f);
  }
}
