#include "within.hpp"

#include <nearfield/core/parallel.hpp>
#include <nearfield/search/radius_search.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace nearfield::detail
{
  template <class List>
  List pairs_within(executor* threads, List const& list, double cutoff, bool closed)
  {
    std::uint64_t const n = pairs_of(list);
    auto const square = square_within(list, cutoff, closed);
    executor& on = threads_or_here(threads);
    std::size_t const n_rows = rows_of(list);
    auto const begin_of = [&](std::size_t row) -> std::uint64_t
    {
      if constexpr (requires { list.offsets; })
        return list.offsets[row];
      else
        return std::min(row * run_of_pairs, n);
    };
    std::vector<std::uint64_t> first(n_rows + 1);
    sum_before(on, std::span(first),
               [&](std::size_t row)
               {
                 std::uint64_t kept = 0;
                 for (auto p = begin_of(row); p < begin_of(row + 1); ++p)
                   kept += list.r2[p] < square;
                 return kept;
               });

    List result;
    for_columns_of_pairs(list, result,
                         [&](auto const& from, auto& to)
                         {
                           if (!from.empty()) to.resize(first.back());
                         });
    if constexpr (requires { list.offsets; })
    {
      result.offsets.resize(list.offsets.size());
      std::copy_n(first.begin(), result.offsets.size(), result.offsets.begin());
    }
    for_each_part(on, cut(on, n_rows),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    std::vector<std::uint64_t> kept; // of a row
                    for (std::size_t row = begin; row < end; ++row)
                    {
                      kept.clear();
                      for (auto p = begin_of(row); p < begin_of(row + 1); ++p)
                        if (list.r2[p] < square) kept.push_back(p);
                      for_columns_of_pairs(list, result,
                                           [&](auto const& from, auto& to)
                                           {
                                             if (from.empty()) return;
                                             for (std::size_t k = 0; k < kept.size(); ++k)
                                               to[first[row] + k] = from[kept[k]];
                                           });
                    }
                  });
    return result;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template csr<T, Dim> pairs_within(executor*, csr<T, Dim> const&, double, bool);                  \
  template coo<T, Dim> pairs_within(executor*, coo<T, Dim> const&, double, bool);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
