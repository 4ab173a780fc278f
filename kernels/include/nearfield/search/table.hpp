#pragma once

#include <nearfield/search/check.hpp>

#include <algorithm>

namespace nearfield
{
  /// A table of fixed width: the first `width` points of every row, and how many there are in truth. One
  /// pass.
  template <cpu_backend Backend, has_cell_view Cells>
  void radius_search(Backend backend, Cells const& cells, to_table const& what,
                     neighbour_table& result)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    std::uint64_t const n = view.target_order.size();
    detail::check_bytes(n * what.width, n * (std::uint64_t(what.width) + 1) * sizeof(index_type),
                        what.max_bytes);
    result.width = what.width;
    result.overflow = false;
    result.counts.resize(n);
    result.columns.resize(n * what.width);
    auto const row = [](void* sink, auto const& hits)
    {
      neighbour_table& table = *static_cast<neighbour_table*>(sink);
      table.counts[hits.i] = hits.count;
      table.overflow |= hits.count > table.width;
      std::copy_n(hits.j, std::min(hits.count, table.width),
                  table.columns.data() + std::size_t(hits.i) * table.width);
    };
    detail::search_rows(detail::isa_of(backend), detail::whole(view, what.which),
                        detail::row_content::indices, detail::row_of(view, row), &result);
  }

  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(Backend backend, Cells const& cells,
                                              to_table const& what)
  {
    neighbour_table result;
    radius_search(backend, cells, what, result);
    return result;
  }
}
