#include <nearfield/starpu_mpi/radius_search.hpp>

#include "tree/src/instantiate.hpp"
#include "tree/src/parallel.hpp"

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

    /// Calls f(to, from) with the columns of r2 and displacements that `from` has.
    template <class T, int Dim, class F>
    void for_each_value_column(pair_geometry<T, Dim>& to, pair_geometry<T, Dim> const& from,
                               F const& f)
    {
      if (!from.r2.empty()) f(to.r2, from.r2);
      for (int a = 0; a < Dim; ++a)
        if (!from.displacements[a].empty()) f(to.displacements[a], from.displacements[a]);
    }

    template <class V>
    void append_column(page_array<V>& to, page_array<V> const& from)
    {
      std::size_t const n = to.size();
      to.resize(n + from.size());
      std::ranges::copy(from, to.begin() + n);
    }

    /// Sorts a row by number.
    template <class T, int Dim>
    class row_sort
    {
    public:
      explicit row_sort(std::span<std::uint64_t const> numbers) : numbers_(numbers) {}

      void operator()(csr<T, Dim>& rows, std::size_t row)
      {
        std::uint64_t const first = rows.offsets[row], n = rows.offsets[row + 1] - first;
        index_type const* const columns = rows.columns.data() + first;
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), index_type(0));
        std::ranges::sort(order_, {}, [&](index_type k) { return numbers_[columns[k]]; });
        permute(rows.columns, first, indices_);
        if (!rows.r2.empty()) permute(rows.r2, first, values_);
        for (auto& d : rows.displacements)
          if (!d.empty()) permute(d, first, values_);
      }

    private:
      template <class V>
      void permute(page_array<V>& column, std::uint64_t first, std::vector<V>& scratch)
      {
        scratch.clear();
        for (index_type const k : order_) scratch.push_back(column[first + k]);
        std::ranges::copy(scratch, column.begin() + first);
      }

      std::span<std::uint64_t const> numbers_;
      std::vector<index_type> order_, indices_;
      std::vector<T> values_;
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
      for_each_value_column(border, border,
                            [&](page_array<T>& to, page_array<T> const& from)
                            { to[kept] = from[p]; });
      ++kept;
    }
    border.i.resize(kept);
    border.j.resize(kept);
    for_each_value_column(border, border,
                          [&](page_array<T>& to, page_array<T> const&) { to.resize(kept); });
  }

  template <class T, int Dim>
  void append(coo<T, Dim>& list, coo<T, Dim> const& border)
  {
    append_column(list.i, border.i);
    append_column(list.j, border.j);
    for_each_value_column(list, border, append_column<T>);
  }

  template <class T, int Dim>
  void add_to_rows(executor* on, distributed_cells<T, Dim> const& cells, bool sorted,
                   coo<T, Dim> const& border, csr<T, Dim>& rows)
  {
    this_thread here;
    executor& threads = on ? *on : here;
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
      if (!border.r2.empty()) fill(all.r2, rows.r2, border.r2);
      for (int a = 0; a < Dim; ++a)
        if (!border.displacements[a].empty())
          fill(all.displacements[a], rows.displacements[a], border.displacements[a]);
      rows = std::move(all);
    }
    if (!sorted) return;
    for_each_part(threads, loop,
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    row_sort<T, Dim> sort(cells.numbers());
                    for (std::size_t r = begin; r < end; ++r) sort(rows, r);
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
    // a row ascends: those with a larger number are its end
    auto const begin_of = [&](index_type r)
    {
      if (which == pairs::full) return rows.offsets[r];
      auto const row = rows.row(r);
      auto const later =
          std::ranges::upper_bound(row, numbers[r], {}, [&](index_type j) { return numbers[j]; });
      return rows.offsets[r] + static_cast<std::uint64_t>(later - row.begin());
    };
    std::uint64_t n = 0;
    for (index_type const r : order) n += rows.offsets[r + 1] - begin_of(r);
    coo<T, Dim> list;
    auto const fill = [&](auto& to, auto const& copy_row)
    {
      to.resize(n);
      auto* at = to.begin();
      for (index_type const r : order) at = copy_row(r, begin_of(r), rows.offsets[r + 1], at);
    };
    auto const copy = [&](auto& to, auto const& from)
    {
      fill(to, [&](index_type, std::uint64_t begin, std::uint64_t end, auto* at)
           { return std::copy(from.begin() + begin, from.begin() + end, at); });
    };
    fill(list.i, [&](index_type r, std::uint64_t begin, std::uint64_t end, index_type* at)
         { return std::fill_n(at, end - begin, r); });
    copy(list.j, rows.columns);
    for_each_value_column(list, rows, copy);
    return list;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void keep_own_pairs(distributed_cells<T, Dim> const&, pairs, coo<T, Dim>&);             \
  template void append(coo<T, Dim>&, coo<T, Dim> const&);                                          \
  template void add_to_rows(executor*, distributed_cells<T, Dim> const&, bool, coo<T, Dim> const&, \
                            csr<T, Dim>&);                                                         \
  template coo<T, Dim> sorted_pairs(distributed_cells<T, Dim> const&, pairs, csr<T, Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
