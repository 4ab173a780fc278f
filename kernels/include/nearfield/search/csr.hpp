#pragma once

#include <nearfield/search/check.hpp>
#include <nearfield/search/geometry.hpp>

#include <algorithm>
#include <vector>

namespace nearfield
{
  namespace detail
  {
    /// offsets[i + 1] counts row i; turns counts into offsets. Returns the sum.
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
  }

  /// A list with a row for every point of the caller's, or every query. Two passes: counts give the places
  /// of rows, which do not follow each other by position, and exact sizes.
  template <cpu_backend Backend, has_cell_view Cells, class T, int Dim>
  void radius_search(Backend backend, Cells const& cells, to_csr const& what, csr<T, Dim>& result)
  {
    cell_view<T, Dim> const view = cells.view();
    detail::check_pairs(view, what.which);
    isa const where = detail::isa_of(backend);
    detail::search_job<T, Dim> const job = detail::whole(view, what.which);
    std::size_t const n = view.target_order.size();

    std::uint64_t const per_pair = sizeof(index_type) + detail::geometry_bytes<T, Dim>(what);
    std::vector<index_type> counts(n);
    std::uint64_t const total = detail::count_rows(where, job, counts.data());
    detail::check_bytes(total, (n + 1) * sizeof(std::uint64_t) + total * per_pair, what.max_bytes);

    result.offsets.resize(n + 1);
    result.offsets[0] = 0;
    std::copy(counts.begin(), counts.end(), result.offsets.data() + 1);
    detail::sum_up(result.offsets);
    result.columns.resize(total);
    detail::for_each_column(result, what,
                            [&](page_array<T>& values)
                            {
                              values.resize(total);
                              return true;
                            });
    auto const row = [](void* sink, detail::search_row<T, Dim> const& hits)
    {
      csr<T, Dim>& list = *static_cast<csr<T, Dim>*>(sink);
      std::uint64_t const at = list.offsets[hits.i];
      std::copy_n(hits.j, hits.count, list.columns.data() + at);
      detail::put_geometry(list, at, hits);
    };
    detail::search_rows(where, job, detail::content_of(what), +row, &result);
    if (!what.sorted) return;
    detail::row_sorter<T, Dim> sort(result);
    for (std::size_t i = 0; i < n; ++i)
      sort(result.columns.data(), result.offsets[i], result.offsets[i + 1]);
  }

  template <cpu_backend Backend, has_cell_view Cells>
  [[nodiscard]] auto radius_search(Backend backend, Cells const& cells, to_csr const& what)
  {
    auto result = detail::list_for<csr>(cells.view());
    radius_search(backend, cells, what, result);
    return result;
  }
}
