#pragma once

#include <nearfield/core/linear_map.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/search/slabs.hpp>

#include <concepts>

namespace nearfield
{
  namespace detail
  {
    /// Whether f also takes the displacement of a pair, after the other arguments.
    // clang-format off
    template <class F, class T, int Dim, class... Before>
    concept takes_displacement =
        std::invocable<F&, Before..., index_type, index_type, T, vec<T, Dim> const&>;
    // clang-format on

    template <class F, class T, int Dim, class... Before>
    constexpr row_content content_for =
        takes_displacement<F, T, Dim, Before...> ? row_content::displacements
                                                 : row_content::distances;

    /// Calls f(before..., i, j, r2), or f(before..., i, j, r2, d), for the pairs of a row.
    template <class F, class T, int Dim, class... Before>
    void visit_row(F& f, search_row<T, Dim> const& hits, Before&... before)
    {
      for (index_type k = 0; k < hits.count; ++k)
        if constexpr (takes_displacement<F, T, Dim, Before&...>)
        {
          vec<T, Dim> d;
          for (int a = 0; a < Dim; ++a) d[a] = hits.d[a][k];
          f(before..., hits.i, hits.j[k], hits.r2[k], d);
        }
        else
          f(before..., hits.i, hits.j[k], hits.r2[k]);
    }

    /// Calls f for the rows of a job.
    template <class T, int Dim, class F>
    void visit_rows_of(isa where, search_job<T, Dim> const& job, visit_rows<F> const& what)
    {
      auto const row = [](void* self, search_row<T, Dim> const& hits)
      {
        auto& [f, which, displacements] = *static_cast<visit_rows<F> const*>(self);
        neighbour_row<T, Dim> given{hits.i, {hits.j, hits.count}, {hits.r2, hits.count}, {}};
        if (displacements)
          for (int a = 0; a < Dim; ++a) given.d[a] = {hits.d[a], hits.count};
        f(std::as_const(given));
      };
      search_rows<T, Dim>(where, job,
                          what.displacements ? row_content::displacements : row_content::distances,
                          row, const_cast<visit_rows<F>*>(&what));
    }
  }

  /// Calls f for every pair closer than the cutoff, in the order of a COO list, on the calling thread;
  /// makes no list. An exception from f ends the search and passes through. Throws nearfield::error for
  /// a half list of two sets.
  template <cpu_backend Backend, has_cell_view Cells, class F>
  void radius_search(Backend where, Cells const& cells, visit<F> what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    auto const search = [&]<class T, int Dim>(cell_view<T, Dim> const& of)
    {
      auto const row = [](void* f, detail::search_row<T, Dim> const& hits)
      {
        detail::visit_row(*static_cast<std::remove_reference_t<F>*>(f), hits);
      };
      detail::search_rows<T, Dim>(detail::isa_of(where), detail::whole(of, what.which),
                                  detail::content_for<std::remove_reference_t<F>, T, Dim>, row,
                                  &what.f);
    };
    search(view);
  }

  /// Calls f for every point of the cell list, or every query, by position, also for those without neighbours; from
  /// several threads at once if they are given. An exception from f ends the search and passes through. Throws
  /// nearfield::error for half lists of two sets.
  template <cpu_place On, has_cell_view Cells, class F>
  void radius_search(On const& where, Cells const& cells, visit_rows<F> const& what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    detail::for_each_slab(where, view, what.which,
                          [&](auto const& job)
                          { detail::visit_rows_of(detail::isa_of(where), job, what); });
  }
}
