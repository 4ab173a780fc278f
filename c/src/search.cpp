#include "calls.hpp"

#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace nearfield::c
{
  namespace
  {
    pairs pairs_of(nf_which which)
    {
      if (which != nf_full && which != nf_half)
        throw error("which is " + std::to_string(which) + "; give nf_full or nf_half");
      return which == nf_full ? pairs::full : pairs::half;
    }

    pair_order order_of(nf_order order)
    {
      switch (order)
      {
      case nf_by_cell:
        return pair_order::cells;
      case nf_by_row:
        return pair_order::rows;
      case nf_sorted:
        return pair_order::sorted;
      default:
        throw error("order is " + std::to_string(order) +
                    "; give nf_by_cell, nf_by_row or nf_sorted");
      }
    }

    /// Calls f<T, Dim>(list, some) with the list, and with what is searched: the list, or those of its pairs that count.
    template <class F>
    auto visit_searched(nf_cells const& cells, F const& f)
    {
      return visit_list(cells,
                        [&]<class T, int Dim>(auto& list)
                        {
                          using list_type = std::remove_cvref_t<decltype(list)>;
                          using filter = std::unique_ptr<kept_filter<T, list_type>>;
                          if (auto const* const some = std::get_if<filter>(&cells.which))
                            return f.template operator()<T, Dim>(list, *(*some)->pairs);
                          return f.template operator()<T, Dim>(list, list);
                        });
    }

    /// A search on the place of the cells.
    template <class List, class Some, class What>
    auto search(place const& where, List&, Some& some, What const& what)
    {
      where.check_handle("cells", is_on_gpu<List>);
      if constexpr (is_on_gpu<List>)
        return radius_search(where.gpu(), some, what);
      else
        return radius_search(where.cpu(), some, what);
    }

    template <class List>
    std::size_t targets_of(List& list)
    {
      if constexpr (is_on_gpu<List>)
        return list.n_targets();
      else
        return list.target_order().size();
    }

    template <class List, class Some>
    std::int64_t count(place const& where, List& list, Some& some, pairs which,
                       index_type* per_point)
    {
      if constexpr (is_on_gpu<List>)
      {
        if (per_point != nullptr)
          search(where, list, some,
                 to_rows{.which = which, .counts = {per_point, list.n_targets()}, .columns = {}});
        return static_cast<std::int64_t>(search(where, list, some, count_pairs{which}).total);
      }
      else
      {
        auto const counts = search(where, list, some, count_pairs{which, per_point != nullptr});
        std::copy(counts.per_point.begin(), counts.per_point.end(), per_point);
        return static_cast<std::int64_t>(counts.total);
      }
    }

    template <class V, int N>
    strided<V, N> vectors_of(void* first, nf_pair_columns const& to)
    {
      if (first == nullptr) return {};
      bool const is_dense = to.vector_stride == 0 && to.vector_column_stride == 0;
      return matrix_columns<N>(static_cast<V*>(first), static_cast<std::size_t>(to.room),
                               is_dense ? N : to.vector_stride,
                               is_dense ? 1 : to.vector_column_stride);
    }

    template <class V>
    soa<V, 1> scalars_of(void* first, nf_pair_columns const& to)
    {
      if (first == nullptr) return {};
      return {{static_cast<V*>(first)}, static_cast<std::size_t>(to.room)};
    }

    template <class I>
    detail::index_column indices_to(void* first, nf_pair_columns const& to)
    {
      if (first == nullptr) return {};
      return strided<I, 1>(scalars_of<I>(first, to), to.index_stride == 0 ? 1 : to.index_stride);
    }

    template <class I, class T, int Dim>
    to_arrays<T, Dim> arrays_of(nf_pair_columns const& to, std::size_t n_rows)
    {
      to_arrays<T, Dim> arrays;
      arrays.which = pairs_of(to.which);
      arrays.order = order_of(to.order);
      arrays.i = indices_to<I>(to.i, to);
      arrays.j = indices_to<I>(to.j, to);
      arrays.r2 = scalars_of<T>(to.r2, to);
      arrays.r = scalars_of<T>(to.r, to);
      arrays.displacements = vectors_of<T, Dim>(to.d, to);
      arrays.to_j = vectors_of<T, Dim>(to.to_j, to);
      arrays.images = vectors_of<std::int32_t, Dim>(to.images, to);
      if (to.offsets != nullptr) arrays.offsets = {{to.offsets}, n_rows + 1};
      return arrays;
    }

    /// Adds 1 to the first n indices.
    template <class I>
    void count_from_one(void* first, nf_pair_columns const& to, std::int64_t n)
    {
      if (first == nullptr) return;
      std::int64_t const stride = to.index_stride == 0 ? 1 : to.index_stride;
      for (std::int64_t p = 0; p < n; ++p) ++static_cast<I*>(first)[p * stride];
    }

    template <class I, class T, int Dim, class List, class Some>
    std::int64_t find(place const& where, List& list, Some& some, nf_pair_columns const& to)
    {
      auto const found = static_cast<std::int64_t>(
          search(where, list, some, arrays_of<I, T, Dim>(to, targets_of(list))));
      if (to.index_base == 1)
        for (void* column : {to.i, to.j}) count_from_one<I>(column, to, std::min(found, to.room));
      return found;
    }

    /// The number of pairs in each of n bins of |d| up to r_max.
    template <class Some>
    std::vector<std::int64_t> histogram(place const& where, Some& some, pairs which, double r_max,
                                        std::size_t n)
    {
      double const width = r_max / static_cast<double>(n);
      return radius_search(
          where.cpu(), some,
          reduce{std::vector<std::int64_t>(n),
                 [&](std::vector<std::int64_t>& counts, auto, auto, auto r2)
                 {
                   double const r = std::sqrt(static_cast<double>(r2));
                   if (r >= r_max) return;
                   auto b = std::min(static_cast<std::size_t>(r / width), n - 1);
                   // the quotient is rounded
                   if (r < static_cast<double>(b) * width)
                     --b;
                   else if (b + 1 < n && r >= static_cast<double>(b + 1) * width)
                     ++b;
                   ++counts[b];
                 },
                 [](std::vector<std::int64_t>& counts, std::vector<std::int64_t> const& part)
                 {
                   for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += part[b];
                 },
                 which});
    }

    void check(place const& where, nf_pair_columns const& to)
    {
      count_of(to.room, "room");
      if ((to.i != nullptr || to.j != nullptr) && to.index_bytes != 4 && to.index_bytes != 8)
        throw error("index_bytes is " + std::to_string(to.index_bytes) + "; give 4 or 8");
      if (to.index_base != 0 && (to.index_base != 1 || where.is_gpu()))
        throw error("index_base is " + std::to_string(to.index_base) + "; give 0 or, on a CPU, 1");
      if ((to.vector_stride != 0 || to.vector_column_stride != 0) &&
          (to.vector_stride == 0 || to.vector_column_stride == 0 ||
           to.vector_stride == to.vector_column_stride))
        throw error("vector_stride is " + std::to_string(to.vector_stride) +
                    ", and vector_column_stride " + std::to_string(to.vector_column_stride) +
                    "; give two that differ, or 0 for both");
    }

    template <class What>
    What list_of(nf_list_options const& of)
    {
      What what;
      what.which = pairs_of(of.which);
      what.sorted = of.sorted != 0;
      what.distances = of.distances != 0;
      what.displacements = of.displacements != 0;
      if (of.images != 0) what.images = image_columns::counters;
      if (of.max_bytes != 0) what.max_bytes = count_of(of.max_bytes, "max_bytes");
      return what;
    }

    /// Searches for a list, in the memory of the last one if that was of the same kind.
    template <class What, class List, class Some>
    void fill(place const& where, List&, Some& some, What const& what, nf_pair_list& to)
    {
      where.check_handle("cells", is_on_gpu<List>);
      if constexpr (is_on_gpu<List>)
        to.of = radius_search(where.gpu(), some, what);
      else
      {
        using result = detail::search_result<Some, What>;
        if (!std::holds_alternative<result>(to.of)) to.of.template emplace<result>();
        radius_search(where.cpu(), some, what, *std::get_if<result>(&to.of));
      }
    }

    template <class List>
    void show(List const& list, nf_pair_view& to)
    {
      if constexpr (requires { list.columns; })
      {
        to.n_pairs = static_cast<std::int64_t>(list.columns.size());
        to.n_rows = static_cast<std::int64_t>(list.size());
        to.offsets = list.offsets.data();
        to.j = list.columns.data();
      }
      else
      {
        to.n_pairs = static_cast<std::int64_t>(list.size());
        to.i = list.i.data();
        to.j = list.j.data();
      }
      to.r2 = list.r2.data();
      for (std::size_t a = 0; a < list.images.size(); ++a)
      {
        to.d[a] = list.displacements[a].data();
        to.images[a] = list.images[a].data();
      }
    }
  }
}

using namespace nearfield;

nf_status nf_count_pairs(nf_place const* where, nf_cells const* cells, nf_which which,
                         int64_t* n_pairs, uint32_t* per_point)
{
  return c::guarded(
      [&]
      {
        c::place const on(where);
        pairs const wanted = c::pairs_of(which);
        std::int64_t& n = c::given(n_pairs, "n_pairs");
        n = c::visit_searched(c::given(cells, "cells"),
                              [&]<class T, int Dim>(auto& list, auto& some)
                              { return c::count(on, list, some, wanted, per_point); });
      });
}

nf_status nf_pair_bound(nf_cells const* cells, nf_which which, int64_t* n_pairs)
{
  return c::guarded(
      [&]
      {
        pairs const wanted = c::pairs_of(which);
        std::int64_t& n = c::given(n_pairs, "n_pairs");
        n = c::visit_list(c::given(cells, "cells"),
                          [&]<class T, int Dim>(auto& list) -> std::int64_t
                          {
                            if constexpr (c::is_on_gpu<std::remove_cvref_t<decltype(list)>>)
                              throw error("nf_pair_bound: cells are on a GPU; ask nf_count_pairs");
                            else
                            {
                              auto const view = list.view();
                              detail::check_pairs(view, wanted);
                              return static_cast<std::int64_t>(
                                  detail::count_candidates(detail::whole(view, wanted)));
                            }
                          });
      });
}

nf_status nf_pair_histogram(nf_place const* where, nf_cells const* cells, nf_which which,
                            double r_max, int64_t n_bins, int64_t* counts)
{
  return c::guarded(
      [&]
      {
        c::place const on(where);
        pairs const wanted = c::pairs_of(which);
        std::size_t const n = c::count_of(n_bins, "n_bins");
        if (!(r_max > 0) || !std::isfinite(r_max) || n == 0)
          throw error("nf_pair_histogram: r_max is " + std::to_string(r_max) + ", and n_bins " +
                      std::to_string(n) + "; give a positive length, and 1 or more");
        c::given(counts, "counts");
        c::visit_searched(
            c::given(cells, "cells"),
            [&]<class T, int Dim>(auto& list, auto& some)
            {
              using list_type = std::remove_cvref_t<decltype(list)>;
              on.check_handle("cells", c::is_on_gpu<list_type>);
              if constexpr (c::is_on_gpu<list_type>)
                throw error("nf_pair_histogram: cells are on a GPU; give cells in host memory");
              else
              {
                auto const found = c::histogram(on, some, wanted, r_max, n);
                for (std::size_t b = 0; b < n; ++b) counts[b] += found[b];
              }
            });
      });
}

nf_status nf_find_pairs(nf_place const* where, nf_cells const* cells, nf_pair_columns const* to,
                        int64_t* n_pairs)
{
  return c::guarded(
      [&]() -> nf_status
      {
        c::place const on(where);
        nf_pair_columns const wanted = c::options_of(&c::given(to, "to"), "to");
        std::int64_t& n = c::given(n_pairs, "n_pairs");
        c::check(on, wanted);
        n = c::visit_searched(c::given(cells, "cells"),
                              [&]<class T, int Dim>(auto& list, auto& some)
                              {
                                return wanted.index_bytes == 8
                                           ? c::find<std::int64_t, T, Dim>(on, list, some, wanted)
                                           : c::find<std::int32_t, T, Dim>(on, list, some, wanted);
                              });
        if (n <= wanted.room) return nf_ok;
        std::string const message = "nf_find_pairs: found " + std::to_string(n) +
                                    " pairs, and there is room for " + std::to_string(wanted.room) +
                                    "; give columns for all of them";
        return c::failed(nf_no_room, message.c_str());
      });
}

nf_status nf_pair_list_create(nf_pair_list** list)
{
  return c::create(list, "list", [] { return new nf_pair_list; });
}

void nf_pair_list_destroy(nf_pair_list* list)
{
  delete list;
}

nf_status nf_pair_list_fill(nf_place const* where, nf_cells const* cells,
                            nf_list_options const* options, nf_pair_list* list)
{
  return c::guarded(
      [&]
      {
        c::place const on(where);
        nf_list_options const of = c::options_of(options, "options");
        nf_pair_list& to = c::given(list, "list");
        c::visit_searched(c::given(cells, "cells"),
                          [&]<class T, int Dim>(auto& found, auto& some)
                          {
                            if (of.rows != 0)
                              c::fill(on, found, some, c::list_of<to_csr>(of), to);
                            else
                              c::fill(on, found, some, c::list_of<to_coo>(of), to);
                          });
      });
}

nf_status nf_pair_list_view(nf_pair_list const* list, nf_pair_view* view)
{
  return c::guarded(
      [&]
      {
        nf_pair_view& to = c::filled(view, "view");
        to = {};
        to.size = sizeof to;
        std::visit(
            [&]<class List>(List const& of)
            {
              if constexpr (!std::is_same_v<List, std::monostate>) c::show(of, to);
            },
            c::given(list, "list").of);
      });
}
