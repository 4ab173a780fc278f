#include "pair_columns.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/search/outputs.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

/// \file
/// Counts, and lists and tables with a row per point.

namespace nearfield::detail
{
  void check_bytes(std::uint64_t n_pairs, std::uint64_t bytes, std::uint64_t max_bytes)
  {
    if (bytes > max_bytes)
      throw error("radius_search: the result has " + std::to_string(n_pairs) + " pairs in " +
                      std::to_string(bytes) + " bytes, more than max_bytes, " +
                      std::to_string(max_bytes) + "; raise it, or use a smaller cutoff",
                  error_kind::out_of_memory);
  }

  void check_table_size(to_table const& what, std::uint64_t n)
  {
    if (what.width == 0) throw error("radius_search: the width of the table is 0; give 1 or more");
    std::uint64_t const row = sizeof(index_type) * (what.width + std::uint64_t(1));
    if (n > what.max_bytes / row)
      throw error("radius_search: the table of " + std::to_string(n) + " rows and width " +
                      std::to_string(what.width) + " takes " + std::to_string(n) + " x " +
                      std::to_string(row) + " bytes, max_bytes is " +
                      std::to_string(what.max_bytes) + "; raise it, or use a smaller width",
                  error_kind::out_of_memory);
  }

  template <class T, int Dim>
  void search_list(isa where, cell_view<T, Dim> const& cells, count_pairs const& what,
                   pair_counts& result)
  {
    check_pairs(cells, what.which);
    auto const write = [&]
    {
      result.per_point.resize(what.per_point ? cells.target_order.size() : 0);
      result.total = count_rows(where, whole(cells, what.which),
                                what.per_point ? result.per_point.data() : nullptr);
    };
    write_or_empty(result, write);
  }

  template <class T, int Dim>
  void size_rows(executor& on, csr<T, Dim>& list, to_csr const& what,
                 std::vector<index_type> const& counts)
  {
    std::size_t const n = counts.size();
    std::uint64_t const per_pair = sizeof(index_type) + geometry_bytes<T, Dim>(what);
    std::uint64_t const total = std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
    check_bytes(total, (n + 1) * sizeof(std::uint64_t) + total * per_pair, what.max_bytes);
    list.offsets.resize(n + 1);
    sum_before(on, std::span(list.offsets.begin(), n + 1),
               [&](std::size_t i) { return counts[i]; });
    list.columns.resize(total);
    for_each_column(list, what,
                    [&](page_array<T>& values)
                    {
                      values.resize(total);
                      return true;
                    });
  }

  template <class T, int Dim>
  void put_row(void* sink, search_row<T, Dim> const& hits)
  {
    csr<T, Dim>& list = *static_cast<csr<T, Dim>*>(sink);
    std::uint64_t const at = list.offsets[hits.i];
    std::copy_n(hits.j, hits.count, list.columns.data() + at);
    put_geometry(list, at, hits);
  }

  template <class T, int Dim>
  void sort_rows(csr<T, Dim>& list, std::size_t first, std::size_t last)
  {
    row_sorter<T, Dim> sort(list);
    for (std::size_t i = first; i < last; ++i)
      sort(list.columns.data(), list.offsets[i], list.offsets[i + 1]);
  }

  template <class T, int Dim>
  void search_list(isa where, cell_view<T, Dim> const& cells, to_csr const& what,
                   csr<T, Dim>& result)
  {
    check_pairs(cells, what.which);
    search_job<T, Dim> const job = whole(cells, what.which);
    std::vector<index_type> counts(cells.target_order.size());
    count_rows(where, job, counts.data());
    auto const write = [&]
    {
      size_rows(threads_or_here(nullptr), result, what, counts);
      search_rows(where, job, content_of(what), &put_row<T, Dim>, &result);
      if (what.sorted) sort_rows(result, 0, result.size());
    };
    write_or_empty(result, write);
  }

  void size_rows(neighbour_table& table, to_table const& what, std::uint64_t n)
  {
    check_table_size(what, n);
    table.width = what.width;
    table.overflow = false;
    table.counts.resize(n);
    table.columns.resize(n * what.width);
  }

  template <class T, int Dim>
  void put_table_row(void* sink, search_row<T, Dim> const& hits)
  {
    neighbour_table& table = *static_cast<neighbour_table*>(sink);
    table.counts[hits.i] = hits.count;
    std::copy_n(hits.j, std::min(hits.count, table.width),
                table.columns.data() + std::size_t(hits.i) * table.width);
  }

  void find_overflow(neighbour_table& table)
  {
    table.overflow = std::any_of(table.counts.begin(), table.counts.end(),
                                 [&](index_type count) { return count > table.width; });
  }

  template <class T, int Dim>
  void search_list(isa where, cell_view<T, Dim> const& cells, to_table const& what,
                   neighbour_table& result)
  {
    check_pairs(cells, what.which);
    auto const write = [&]
    {
      size_rows(result, what, cells.target_order.size());
      search_rows(where, whole(cells, what.which), row_content::indices, &put_table_row<T, Dim>,
                  &result);
      find_overflow(result);
    };
    write_or_empty(result, write);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void search_list(isa, cell_view<T, Dim> const&, count_pairs const&, pair_counts&);      \
  template void search_list(isa, cell_view<T, Dim> const&, to_csr const&, csr<T, Dim>&);           \
  template void search_list(isa, cell_view<T, Dim> const&, to_table const&, neighbour_table&);     \
  template void size_rows(executor&, csr<T, Dim>&, to_csr const&, std::vector<index_type> const&); \
  template void put_row(void*, search_row<T, Dim> const&);                                         \
  template void sort_rows(csr<T, Dim>&, std::size_t, std::size_t);                                 \
  template void put_table_row(void*, search_row<T, Dim> const&);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
