#pragma once

#include <nearfield/starpu/search/rows.hpp>

#include <algorithm>
#include <vector>

/// \file
/// Sorted COO lists by tasks: as CSR rows, which are sorted independently.

namespace nearfield::starpu::detail
{
  /// Pairs (i, j > i) as rows of i. They are taken from the full list, whose row i holds all of them; the
  /// half list has some in row j, so two tasks would write to one row. This doubles the distance tests,
  /// but sorting takes longer than these.
  template <class T, int Dim>
  struct upper_rows
  {
    csr<T, Dim>* list = nullptr;
    index_type* counts = nullptr;

    static void count(void* self, nearfield::detail::search_row<T, Dim> const& hits)
    {
      static_cast<upper_rows*>(self)->counts[hits.i] = static_cast<index_type>(
          std::count_if(hits.j, hits.j + hits.count, [&](index_type j) { return j > hits.i; }));
    }

    static void put(void* self, nearfield::detail::search_row<T, Dim> const& hits)
    {
      csr<T, Dim>& list = *static_cast<upper_rows*>(self)->list;
      std::uint64_t at = list.offsets[hits.i];
      for (index_type k = 0; k < hits.count; ++k)
      {
        if (hits.j[k] < hits.i) continue;
        list.columns[at] = hits.j[k];
        if (!list.r2.empty()) list.r2[at] = hits.r2[k];
        for (int a = 0; a < Dim; ++a)
          if (!list.displacements[a].empty()) list.displacements[a][at] = hits.d[a][k];
        ++at;
      }
    }
  };

  template <class T, int Dim>
  void search_upper(runtime const& starpu, cell_view<T, Dim> const& cells, to_csr const& what,
                    csr<T, Dim>& rows, slab_options const& options)
  {
    slab_search const search(starpu, cells, pairs::full, options);
    std::vector<index_type> counts(cells.target_order.size());
    upper_rows<T, Dim> sink{&rows, counts.data()};
    search.rows(nearfield::detail::row_content::indices, &upper_rows<T, Dim>::count, &sink);
    nearfield::detail::size_rows(rows, what, counts);
    search.rows(nearfield::detail::content_of(what), &upper_rows<T, Dim>::put, &sink);
    run_rows(starpu, rows.size(), rows.columns.size(),
             [&](std::size_t first, std::size_t last)
             { nearfield::detail::sort_rows(rows, first, last); });
  }

  /// A sorted COO list: sorted CSR rows with i written out.
  template <has_cell_view Cells, class T, int Dim>
  void search_sorted(runtime const& starpu, Cells const& cells, to_coo const& what,
                     coo<T, Dim>& list, slab_options const& options)
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
