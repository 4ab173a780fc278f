#include "calls.hpp"

#include <memory>

namespace nearfield::c
{
  namespace
  {
    /// The systems of a batch, and the memory that they refer to.
    template <int Dim>
    struct batch
    {
      std::vector<index_type> offsets, source_offsets;
      std::vector<double> cutoffs;
      std::vector<cell<Dim>> boxes;

      batch(nf_cells_options const& of, bool has_two_sets, double cutoff)
      {
        std::size_t const n = count_of(of.n_systems, "n_systems");
        offsets = indices_of("offsets", of.offsets, n + 1);
        if (has_two_sets) source_offsets = indices_of("source_offsets", of.source_offsets, n + 1);
        if (of.cutoffs != nullptr)
          cutoffs.assign(of.cutoffs, of.cutoffs + n);
        else
          cutoffs = {cutoff};
        if (of.boxes != nullptr)
          for (std::size_t s = 0; s < n; ++s) boxes.push_back(cell_of<Dim>(of.boxes[s]));
        else
          boxes = {cell_of<Dim>(of.box)};
      }

      [[nodiscard]] systems<Dim> view() const
      {
        // C++ calls targets queries, and has the sources' offsets first
        systems<Dim> result{.cutoffs = cutoffs, .cells = boxes};
        result.offsets = source_offsets.empty() ? offsets : source_offsets;
        if (!source_offsets.empty()) result.query_offsets = offsets;
        return result;
      }
    };

    template <class T, int Dim>
    cell_list_options<T, Dim> cell_options_of(nf_cells_options const& of)
    {
      cell_list_options<T, Dim> options;
      for (int a = 0; a < Dim; ++a) options.cells_per_cutoff[a] = of.cells_per_cutoff[a];
      if (of.n_systems == 0) options.cell = cell_of<Dim>(of.box);
      options.closed = of.closed != 0;
      options.skin = of.skin;
      options.skin_is = of.skin_is_each != 0 ? skin_meaning::each : skin_meaning::total;
      return options;
    }

    /// make(arguments...) with the points of one set or two, and a cutoff or systems.
    template <class T, int Dim, class Make>
    nf_cells* cells_of(nf_columns const& x, nf_columns const* y, double cutoff,
                       nf_cells_options const& of, Make const& make)
    {
      auto const options = cell_options_of<T, Dim>(of);
      auto const targets = view_of<T const, Dim>("x", x);
      auto const with_sources = [&](auto const& reach)
      {
        if (y == nullptr) return make(targets, reach, options);
        return make(targets, view_of<T const, Dim>("y", *y), reach, options);
      };
      if (of.n_systems == 0) return with_sources(cutoff);
      batch<Dim> const given(of, y != nullptr, cutoff);
      return with_sources(given.view());
    }

    template <class T, int Dim>
    nf_cells* cells_at(place const& where, nf_columns const& x, nf_columns const* y, double cutoff,
                       nf_cells_options const& of)
    {
      if (where.is_gpu())
        return cells_of<T, Dim>(x, y, cutoff, of,
                                [&](auto const&... arguments)
                                {
                                  return new nf_cells{std::make_unique<cuda_cell_list<T, Dim>>(
                                      where.gpu(), arguments...)};
                                });
      return cells_of<T, Dim>(
          x, y, cutoff, of, [&](auto const&... arguments)
          { return new nf_cells{cell_list<T, Dim>(where.cpu(), arguments...)}; });
    }

    /// Calls f(list, points...) with the points of one set or two.
    template <class F>
    void with_points_of(nf_cells* cells, nf_columns const& x, nf_columns const* y, F const& f)
    {
      visit_list(given(cells, "cells"),
                 [&]<class T, int Dim>(auto& list)
                 {
                   auto const targets = view_of<T const, Dim>("x", x);
                   if (y == nullptr)
                     f(list, targets);
                   else
                     f(list, targets, view_of<T const, Dim>("y", *y));
                 });
    }
  }
}

using namespace nearfield;

nf_status nf_cells_create(nf_place const* where, nf_columns x, nf_columns const* y, double cutoff,
                          nf_cells_options const* options, nf_cells** cells)
{
  return c::create(cells, "cells",
                   [&]
                   {
                     c::place const on(where);
                     nf_cells_options const of = c::options_of(options, "options");
                     return c::with_points(x, [&]<class T, int Dim>()
                                           { return c::cells_at<T, Dim>(on, x, y, cutoff, of); });
                   });
}

void nf_cells_destroy(nf_cells* cells)
{
  delete cells;
}

nf_status nf_cells_rebuild(nf_cells* cells, nf_columns x, nf_columns const* y)
{
  return c::guarded(
      [&]
      {
        c::with_points_of(cells, x, y,
                          [](auto& list, auto const&... points) { list.rebuild(points...); });
      });
}

nf_status nf_cells_update(nf_cells* cells, nf_columns x, nf_columns const* y, int32_t* rebuilt)
{
  return c::guarded(
      [&]
      {
        c::with_points_of(cells, x, y,
                          [&](auto& list, auto const&... points)
                          {
                            bool const is_new = list.update(points...);
                            if (rebuilt != nullptr) *rebuilt = is_new;
                          });
      });
}
