#include <nearfield/core/parallel.hpp>
#include <nearfield/starpu_mpi/radius_search.hpp>

#include "search/src/pair_columns.hpp"
#include "tree/src/instantiate.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/search/outputs.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

/// \file
/// The pairs of own points and those with the halo become one list.

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    using namespace nearfield::detail;

    /// Calls f(columns...) for each column that any of the lists has, and the same of the others.
    template <class F, class... Lists>
    void for_each_value_column(F const& f, Lists&... lists)
    {
      for_each_of(
          [&](auto&... columns)
          {
            if ((!columns.empty() || ...)) f(columns...);
          },
          lists...);
    }

    template <class T, int Dim>
    image_counters<Dim> image_at(pair_geometry<T, Dim> const& list, std::uint64_t pair)
    {
      image_counters<Dim> image;
      for (int a = 0; a < Dim; ++a) image[a] = list.images[a][pair];
      return image;
    }

    constexpr auto append_column = [](auto& to, auto const& from)
    {
      std::size_t const n = to.size();
      to.resize(n + from.size());
      std::ranges::copy(from, to.begin() + n);
    };
  }

  template <class T, int Dim>
  void keep_own_pairs(distributed_cells<T, Dim> const& cells, pairs which, coo<T, Dim>& border)
  {
    auto const numbers = cells.numbers();
    auto const n_own = static_cast<index_type>(cells.n_points());
    std::size_t kept = 0;
    for (std::size_t p = 0; p < border.size(); ++p)
    {
      index_type const i = cells.border_points()[border.i[p]], j = n_own + border.j[p];
      if (which == pairs::half && numbers[j] < numbers[i]) continue;
      border.i[kept] = i;
      border.j[kept] = j;
      for_each_value_column([&](auto& column) { column[kept] = column[p]; }, border);
      ++kept;
    }
    border.i.resize(kept);
    border.j.resize(kept);
    for_each_value_column([&](auto& column) { column.resize(kept); }, border);
  }

  template <class T, int Dim>
  void pack_images(coo<T, Dim>& list)
  {
    list.packed_images.resize(list.size());
    for (std::size_t p = 0; p < list.size(); ++p)
      list.packed_images[p] = packed_image(image_at(list, p));
    list.images = {};
  }

  template <class T, int Dim>
  void append(coo<T, Dim>& list, coo<T, Dim> const& border)
  {
    append_column(list.i, border.i);
    append_column(list.j, border.j);
    for_each_value_column(append_column, list, border);
  }

  template <class T, int Dim>
  void add_to_rows(executor* on, distributed_cells<T, Dim> const& cells, bool sorted,
                   coo<T, Dim> const& border, csr<T, Dim>& rows)
  {
    executor& threads = threads_or_here(on);
    loop_parts const loop = cut(threads, rows.size(), 256, 4);
    if (border.size() > 0)
    {
      csr<T, Dim> all;
      std::vector<std::uint64_t> added(rows.size() + 1, 0); // pairs of the border before each row
      for (index_type const i : border.i) ++added[i + 1];
      std::inclusive_scan(added.begin(), added.end(), added.begin());
      std::size_t const n = rows.columns.size() + border.size();
      all.offsets.resize(rows.size() + 1);
      for (std::size_t r = 0; r <= rows.size(); ++r) all.offsets[r] = rows.offsets[r] + added[r];
      // each row's own part first, and then what the border adds
      auto const fill = [&](auto& to, auto const& own, auto const& of_border)
      {
        to.resize(n);
        for_each_part(threads, loop,
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        for (std::size_t r = begin; r < end; ++r)
                          std::copy(own.begin() + rows.offsets[r],
                                    own.begin() + rows.offsets[r + 1], to.begin() + all.offsets[r]);
                      });
        std::vector<std::uint64_t> next(added.begin(), added.end() - 1);
        for (std::size_t p = 0; p < border.size(); ++p)
        {
          index_type const r = border.i[p];
          to[rows.offsets[r + 1] + next[r]++] = of_border[p];
        }
      };
      fill(all.columns, rows.columns, border.j);
      for_each_value_column(fill, all, rows, border);
      rows = std::move(all);
    }
    if (!sorted || rows.size() == 0) return;
    // rows of places in the order of the numbers are sorted by index
    page_vector<std::uint64_t> numbers(cells.numbers().begin(), cells.numbers().end());
    std::vector<index_type> order(numbers.size()), place(numbers.size());
    sort_scratch scratch;
    sort_keys(threads, numbers, order, scratch);
    for (std::size_t p = 0; p < order.size(); ++p) place[order[p]] = static_cast<index_type>(p);
    for_each_part(threads, loop,
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    std::span const columns(rows.columns.data() + rows.offsets[begin],
                                            rows.columns.data() + rows.offsets[end]);
                    for (index_type& j : columns) j = place[j];
                    sort_rows(rows, begin, end);
                    for (index_type& j : columns) j = order[j];
                  });
  }

  template <class T, int Dim>
  coo<T, Dim> sorted_pairs(distributed_cells<T, Dim> const& cells, pairs which,
                           csr<T, Dim> const& rows)
  {
    auto const numbers = cells.numbers();
    std::vector<index_type> order(rows.size());
    std::iota(order.begin(), order.end(), index_type(0));
    std::ranges::sort(order, {}, [&](index_type r) { return numbers[r]; });
    auto const number_of = [&](index_type j)
    {
      return numbers[j];
    };
    // calls f(r, begin, end) with the pairs [begin, end) of each row r
    auto const for_each_range = [&](auto const& f)
    {
      for (index_type const r : order)
      {
        auto const row = rows.row(r);
        std::uint64_t begin = rows.offsets[r];
        if (which == pairs::half) // those with a larger number are the end of a row
        {
          // no equal_range(): clang++ 14 has no subranges
          auto const own = std::ranges::lower_bound(row, numbers[r], {}, number_of),
                     later = std::ranges::upper_bound(row, numbers[r], {}, number_of);
          begin += static_cast<std::uint64_t>(own - row.begin());
          for (auto left = later - own; left > 0; --left, ++begin)
            if (is_positive(image_at(rows, begin))) f(r, begin, begin + 1);
        }
        f(r, begin, rows.offsets[r + 1]);
      }
    };
    std::uint64_t n = 0;
    for_each_range([&](index_type, std::uint64_t begin, std::uint64_t end) { n += end - begin; });
    coo<T, Dim> list;
    list.i.resize(n);
    list.j.resize(n);
    for_each_value_column([&](auto& to, auto const&) { to.resize(n); }, list, rows);
    std::uint64_t at = 0;
    for_each_range(
        [&](index_type r, std::uint64_t begin, std::uint64_t end)
        {
          auto const copy = [&](auto& to, auto const& from)
          {
            std::copy(from.begin() + begin, from.begin() + end, to.begin() + at);
          };
          std::fill_n(list.i.begin() + at, end - begin, r);
          copy(list.j, rows.columns);
          for_each_value_column(copy, list, rows);
          at += end - begin;
        });
    return list;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void keep_own_pairs(distributed_cells<T, Dim> const&, pairs, coo<T, Dim>&);             \
  template void pack_images(coo<T, Dim>&);                                                         \
  template void append(coo<T, Dim>&, coo<T, Dim> const&);                                          \
  template void add_to_rows(executor*, distributed_cells<T, Dim> const&, bool, coo<T, Dim> const&, \
                            csr<T, Dim>&);                                                         \
  template coo<T, Dim> sorted_pairs(distributed_cells<T, Dim> const&, pairs, csr<T, Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
