#include "calls.hpp"

#include <memory>

namespace nearfield::c
{
  namespace
  {
    /// n numbers, or none for null.
    std::vector<index_type> indices_if(char const* name, std::int64_t const* numbers, std::size_t n)
    {
      if (numbers == nullptr) return {};
      return indices_of(name, numbers, n);
    }

    /// n lengths in the type of the points, or none for null.
    template <class T>
    std::vector<T> lengths_if(double const* values, std::size_t n)
    {
      std::vector<T> result;
      if (values != nullptr)
        for (std::size_t k = 0; k < n; ++k) result.push_back(static_cast<T>(values[k]));
      return result;
    }

    /// The systems of a batch, and the memory that they refer to.
    template <int Dim>
    struct batch
    {
      std::vector<index_type> offsets, order, source_offsets, source_order;
      std::vector<double> cutoffs;
      std::vector<cell<Dim>> boxes;

      batch(nf_cells_options const& of, bool has_two_sets, double cutoff)
      {
        std::size_t const n = count_of(of.n_systems, "n_systems");
        offsets = indices_of("offsets", of.offsets, n + 1);
        order = indices_if("order", of.order, offsets.back());
        if (has_two_sets)
        {
          source_offsets = indices_of("source_offsets", of.source_offsets, n + 1);
          source_order = indices_if("source_order", of.source_order, source_offsets.back());
        }
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
        bool const one_set = source_offsets.empty();
        result.offsets = one_set ? offsets : source_offsets;
        result.order = one_set ? order : source_order;
        if (!one_set)
        {
          result.query_offsets = offsets;
          result.query_order = order;
        }
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

    cutoff_by cutoff_by_of(nf_cutoff_by by)
    {
      switch (by)
      {
      case nf_sum_of_radii:
        return cutoff_by::sum;
      case nf_larger_radius:
        return cutoff_by::larger;
      case nf_own_radius:
        return cutoff_by::own;
      default:
        throw error("by is " + std::to_string(by) +
                    "; give nf_sum_of_radii, nf_larger_radius or nf_own_radius");
      }
    }

    /// Points of a list: targets, sources, and whether these are the same.
    struct point_counts
    {
      std::size_t n_targets, n_sources;
      bool one_set;
    };
    template <class T, int Dim>
    point_counts points_of(cell_list<T, Dim> const& list)
    {
      return {list.target_order().size(), list.source_order().size(), list.view().one_set};
    }
    template <class T, int Dim>
    point_counts points_of(cuda_cell_list<T, Dim> const& list)
    {
      return {list.n_targets(), list.n_sources(), list.has_one_set()};
    }

    template <class T, class List>
    auto filter_of(List& list, nf_filter_options const& of)
    {
      auto const [n_targets, n_sources, one_set] = points_of(list);
      auto kept = std::make_unique<kept_filter<T, List>>();
      std::size_t const n_types = count_of(of.n_types, "n_types");
      kept->types = indices_if("types", of.types, n_targets);
      kept->type_cutoffs = lengths_if<T>(of.type_cutoffs, n_types * n_types);
      kept->radii = lengths_if<T>(of.radii, n_targets);
      if (!one_set)
      {
        kept->source_types = indices_if("source_types", of.source_types, n_sources);
        kept->source_radii = lengths_if<T>(of.source_radii, n_sources);
      }
      if (of.excluded_offsets != nullptr)
      {
        for (std::size_t i = 0; i <= n_targets; ++i)
          kept->excluded_offsets.push_back(count_of(of.excluded_offsets[i], "excluded_offsets"));
        kept->excluded = indices_of("excluded", of.excluded, kept->excluded_offsets.back());
      }
      // C++ calls targets queries, and has what belongs to sources first
      pair_filter<T> filter{.type_cutoffs = kept->type_cutoffs, .by = cutoff_by_of(of.by)};
      filter.types = one_set ? kept->types : kept->source_types;
      filter.radii = one_set ? kept->radii : kept->source_radii;
      if (!one_set)
      {
        filter.query_types = kept->types;
        filter.query_radii = kept->radii;
      }
      filter.excluded_offsets = kept->excluded_offsets;
      filter.excluded = kept->excluded;
      std::vector<index_type> rows;
      if (of.rows != nullptr)
      {
        rows = indices_of("rows", of.rows, count_of(of.n_rows, "n_rows"));
        filter.rows = rows;
      }
      kept->pairs.emplace(list, filter);
      return kept;
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

nf_status nf_cells_filter(nf_cells* cells, nf_filter_options const* filter)
{
  return c::guarded(
      [&]
      {
        nf_cells& of = c::given(cells, "cells");
        if (filter == nullptr)
        {
          of.which = std::monostate();
          return;
        }
        nf_filter_options const options = c::options_of(filter, "filter");
        c::visit_list(of, [&]<class T, int Dim>(auto& list)
                      { of.which = c::filter_of<T>(list, options); });
      });
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
