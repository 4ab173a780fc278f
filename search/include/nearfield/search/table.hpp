#pragma once

#include <nearfield/search/check.hpp>

#include <algorithm>

namespace nearfield
{
  namespace detail
  {
    /// Room for n rows. Throws nearfield::error for width 0 and beyond max_bytes.
    inline void size_table(neighbour_table& table, to_table const& what, std::uint64_t n)
    {
      check_table(what, n);
      table.width = what.width;
      table.overflow = false;
      table.counts.resize(n);
      table.columns.resize(n * what.width);
    }

    /// Writes a row to its place; rows of different points may be written concurrently.
    template <class T, int Dim>
    void put_table_row(void* sink, search_row<T, Dim> const& hits)
    {
      neighbour_table& table = *static_cast<neighbour_table*>(sink);
      table.counts[hits.i] = hits.count;
      std::copy_n(hits.j, std::min(hits.count, table.width),
                  table.columns.data() + std::size_t(hits.i) * table.width);
    }

    inline void find_overflow(neighbour_table& table)
    {
      table.overflow = std::any_of(table.counts.begin(), table.counts.end(),
                                   [&](index_type count) { return count > table.width; });
    }
  }

  /// Writes a table of fixed width: the first `width` points of every row, and the number that it really has.
  /// One pass. Throws nearfield::error for a half list of two sets, width 0, a result larger than max_bytes,
  /// and memory that the system refuses.
  template <cpu_backend Backend, has_cell_view Cells>
  void radius_search(Backend backend, Cells const& cells, to_table const& what,
                     neighbour_table& result)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    auto const row = [](void* sink, auto const& hits)
    {
      detail::put_table_row(sink, hits);
    };
    detail::write_or_empty(result,
                           [&]
                           {
                             detail::size_table(result, what, view.target_order.size());
                             detail::search_rows(
                                 detail::isa_of(backend), detail::whole(view, what.which),
                                 detail::row_content::indices, detail::row_of(view, row), &result);
                             detail::find_overflow(result);
                           });
  }

  /// As above, returning a new table.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(Backend backend, Cells const& cells,
                                              to_table const& what)
  {
    neighbour_table result;
    radius_search(backend, cells, what, result);
    return result;
  }
}
