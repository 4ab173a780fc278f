#pragma once

#include <nearfield/search/check.hpp>
#include <nearfield/search/geometry.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace nearfield
{
  namespace detail
  {
    /// offsets[i + 1] holds the length of row i; turns lengths into offsets. Returns the sum.
    inline std::uint64_t sum_up(page_array<std::uint64_t>& offsets)
    {
      std::uint64_t sum = 0;
      for (std::uint64_t& offset : offsets)
      {
        sum += offset;
        offset = sum;
      }
      return sum;
    }

    /// Offsets from the lengths of rows, and room for all columns. Throws nearfield::error beyond max_bytes.
    template <class T, int Dim>
    void size_rows(csr<T, Dim>& list, to_csr const& what, std::vector<index_type> const& counts)
    {
      std::size_t const n = counts.size();
      std::uint64_t const per_pair = sizeof(index_type) + geometry_bytes<T, Dim>(what);
      std::uint64_t const total = std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
      check_bytes(total, (n + 1) * sizeof(std::uint64_t) + total * per_pair, what.max_bytes);
      list.offsets.resize(n + 1);
      list.offsets[0] = 0;
      std::copy(counts.begin(), counts.end(), list.offsets.data() + 1);
      sum_up(list.offsets);
      list.columns.resize(total);
      for_each_column(list, what,
                      [&](page_array<T>& values)
                      {
                        values.resize(total);
                        return true;
                      });
    }

    /// Writes a row to its place; rows of different points may be written concurrently.
    template <class T, int Dim>
    void put_row(void* sink, search_row<T, Dim> const& hits)
    {
      csr<T, Dim>& list = *static_cast<csr<T, Dim>*>(sink);
      std::uint64_t const at = list.offsets[hits.i];
      std::copy_n(hits.j, hits.count, list.columns.data() + at);
      put_geometry(list, at, hits);
    }

    /// Sorts the rows [first, last).
    template <class T, int Dim>
    void sort_rows(csr<T, Dim>& list, std::size_t first, std::size_t last)
    {
      row_sorter<T, Dim> sort(list);
      for (std::size_t i = first; i < last; ++i)
        sort(list.columns.data(), list.offsets[i], list.offsets[i + 1]);
    }
  }

  /// Writes a list with one row per point, or per query, in the order of the arrays that were given. It
  /// takes two passes: counts give the places of rows, which are not in order of position, and exact
  /// sizes. Throws nearfield::error for a half list of two sets, a result larger than max_bytes, and
  /// memory that the system refuses.
  template <cpu_backend Backend, has_cell_view Cells, class T, int Dim>
  void radius_search(Backend backend, Cells const& cells, to_csr const& what, csr<T, Dim>& result)
  {
    cell_view<T, Dim> const view = cells.view();
    detail::check_pairs(view, what.which);
    isa const where = detail::isa_of(backend);
    detail::search_job<T, Dim> const job = detail::whole(view, what.which);
    std::vector<index_type> counts(view.target_order.size());
    detail::count_rows(where, job, counts.data());
    detail::write_or_empty(result,
                           [&]
                           {
                             detail::size_rows(result, what, counts);
                             detail::search_rows(where, job, detail::content_of(what),
                                                 &detail::put_row<T, Dim>, &result);
                             if (what.sorted) detail::sort_rows(result, 0, result.size());
                           });
  }

  /// As above, returning a new list.
  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] auto radius_search(Backend backend, Cells const& cells, to_csr const& what)
  {
    auto result = detail::list_for<csr>(cells.view());
    radius_search(backend, cells, what, result);
    return result;
  }
}
