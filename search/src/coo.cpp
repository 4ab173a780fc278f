#include "pair_columns.hpp"
#include "stream.hpp"

#include <nearfield/search/outputs.hpp>

#include <algorithm>
#include <vector>

/// \file
/// Lists of pairs in two columns.

namespace nearfield::detail
{
  template <class T, int Dim>
  bool reserve(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    return list.i.try_reserve(n) && list.j.try_reserve(n) &&
           for_each_column(list, what,
                           [&](page_array<T>& values) { return values.try_reserve(n); });
  }

  template <class T, int Dim>
  void resize(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    list.i.resize(n);
    list.j.resize(n);
    for_each_column(list, what,
                    [&](page_array<T>& values)
                    {
                      values.resize(n);
                      return true;
                    });
  }

  template <class T, int Dim>
  void resize_to_found(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    resize(list, what, n);
    auto const give_back = [](auto& values)
    {
      constexpr std::size_t little = (std::size_t(1) << 20) / sizeof(values[0]);
      if (values.capacity() > 2 * values.size() + little) values.shrink_to_fit();
      return true;
    };
    give_back(list.i);
    give_back(list.j);
    for_each_column(list, what, give_back);
  }

  void stream_copy(index_type const* from, std::size_t n, index_type* to)
  {
    std::size_t k = std::min<std::size_t>(n, places_to_line(to));
    std::copy_n(from, k, to);
    for (; n - k >= line_size; k += line_size) index_lanes::of(from + k).stream(to + k);
    std::copy_n(from + k, n - k, to + k);
    index_lanes::finish();
  }

  namespace
  {
    /// The single pass: appends rows.
    template <class T, int Dim>
    struct coo_writer
    {
      index_type* i;
      index_type* j;
      pair_geometry<T, Dim>* geometry; // null if neither distances nor displacements are asked for
      std::uint64_t size = 0;
      std::uint64_t first = size; // others may write before it
      pair_stream stream = {};

      static void row(void* self, search_row<T, Dim> const& hits)
      {
        coo_writer& to = *static_cast<coo_writer*>(self);
        if (to.stream.begun())
          to.stream.add(hits.i, hits.j, hits.count);
        else
        {
          std::fill_n(to.i + to.size, hits.count, hits.i);
          std::copy_n(hits.j, hits.count, to.j + to.size);
        }
        if (to.geometry) put_geometry(*to.geometry, to.size, hits);
        to.size += hits.count;
        if (to.size - to.first >= cached_pairs && !to.stream.begun())
          to.stream.begin(to.i, to.j, to.size);
      }
    };

    /// Half pairs in lexicographic order, (smaller, larger): put into the rows of the smaller
    /// index, which are then sorted.
    template <class T, int Dim>
    struct sorted_half
    {
      coo<T, Dim>* list;
      std::vector<std::uint64_t> next; // the place of the next pair of each smaller index

      static void count(void* self, search_row<T, Dim> const& hits)
      {
        auto& next = static_cast<sorted_half*>(self)->next;
        for (index_type k = 0; k < hits.count; ++k) ++next[std::min(hits.i, hits.j[k])];
      }

      static void put(void* self, search_row<T, Dim> const& hits)
      {
        auto& [list, next] = *static_cast<sorted_half*>(self);
        for (index_type k = 0; k < hits.count; ++k)
        {
          index_type const j = hits.j[k];
          bool const turned = j < hits.i;
          std::uint64_t const at = next[turned ? j : hits.i]++;
          list->i[at] = turned ? j : hits.i;
          list->j[at] = turned ? hits.i : j;
          if (!list->r2.empty()) list->r2[at] = hits.r2[k];
          for (int a = 0; a < Dim; ++a)
            if (!list->displacements[a].empty())
              // 0 - d rather than -d: x_j - x_i is +0 if the two are equal
              list->displacements[a][at] = turned ? T(0) - hits.d[a][k] : hits.d[a][k];
        }
      }
    };

    template <class T, int Dim>
    void search_sorted_half(isa where, search_job<T, Dim> const& job, to_coo const& what,
                            coo<T, Dim>& list)
    {
      std::size_t const n = job.cells->target_order.size();
      sorted_half<T, Dim> sink{&list, std::vector<std::uint64_t>(n)};
      search_rows(where, job, row_content::indices, &sorted_half<T, Dim>::count, &sink);
      std::uint64_t sum = 0;
      for (std::uint64_t& next : sink.next) sum += std::exchange(next, sum);
      resize(list, what, sum);
      search_rows(where, job, content_of(what), &sorted_half<T, Dim>::put, &sink);
      row_sorter<T, Dim> sort(list);
      std::uint64_t begin = 0;
      for (std::uint64_t const end : sink.next)
      {
        sort(list.j.data(), begin, end);
        begin = end;
      }
    }

    /// A sorted full list: the rows of a sorted CSR list.
    template <class T, int Dim>
    void search_sorted_full(isa where, cell_view<T, Dim> const& cells, to_coo const& what,
                            coo<T, Dim>& list)
    {
      csr<T, Dim> rows;
      search_list(where, cells, to_csr{pairs::full, true, what.distances, what.displacements},
                  rows);
      list.i.resize(rows.columns.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        std::fill(list.i.data() + rows.offsets[i], list.i.data() + rows.offsets[i + 1],
                  static_cast<index_type>(i));
      list.j = std::move(rows.columns);
      static_cast<pair_geometry<T, Dim>&>(list) =
          std::move(static_cast<pair_geometry<T, Dim>&>(rows));
    }
  }

  template <class T, int Dim>
  std::uint64_t write_pairs(isa where, search_job<T, Dim> const& job, to_coo const& what,
                            coo<T, Dim>& list, std::uint64_t at)
  {
    row_content const content = content_of(what);
    coo_writer<T, Dim> sink{list.i.data(), list.j.data(),
                            content == row_content::indices ? nullptr : &list, at};
    search_rows(where, job, content, &coo_writer<T, Dim>::row, &sink);
    sink.stream.finish();
    return sink.size;
  }

  template <class T, int Dim>
  void search_list(isa where, cell_view<T, Dim> const& cells, to_coo const& what,
                   coo<T, Dim>& result)
  {
    check_pairs(cells, what.which);
    search_job<T, Dim> const job = whole(cells, what.which);
    std::uint64_t const per_pair = 2 * sizeof(index_type) + geometry_bytes<T, Dim>(what);
    std::uint64_t most = count_candidates(job);
    bool counted = false;
    auto const count = [&]
    {
      most = count_rows(where, job, nullptr);
      check_bytes(most, most * per_pair, what.max_bytes);
      counted = true;
    };
    if (most > what.max_bytes / per_pair) count();
    auto const write = [&]
    {
      if (what.sorted && what.which == pairs::half)
        return search_sorted_half(where, job, what, result);
      if (what.sorted) return search_sorted_full(where, cells, what, result);
      if (!reserve(result, what, most))
      {
        if (!counted) count();
        result = {}; // some columns may hold much of the memory that the system has
      }
      // reserves the most that it may hold, so that the columns asked for are not empty
      resize(result, what, most);
      resize_to_found(result, what, write_pairs(where, job, what, result, 0));
    };
    write_or_empty(result, write);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template bool reserve(coo<T, Dim>&, to_coo const&, std::uint64_t);                               \
  template void resize(coo<T, Dim>&, to_coo const&, std::uint64_t);                                \
  template void resize_to_found(coo<T, Dim>&, to_coo const&, std::uint64_t);                       \
  template std::uint64_t write_pairs(isa, search_job<T, Dim> const&, to_coo const&, coo<T, Dim>&,  \
                                     std::uint64_t);                                               \
  template void search_list(isa, cell_view<T, Dim> const&, to_coo const&, coo<T, Dim>&);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
