#pragma once

#include "search/random_case.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// \file
/// Batches: systems with boxes, cutoffs and numbers of points of their own.

namespace nearfield::test
{
  /// One set of points of a batch.
  template <class T, int Dim>
  struct batch_points
  {
    points<T, Dim> x;
    std::vector<std::int64_t> column; ///< the system of each
    nearfield::points_of_systems of;

    /// of systems, in their order or mixed
    batch_points(std::vector<points<T, Dim>> const& systems, bool mixed, random_numbers& random)
    {
      std::vector<std::size_t> taken(systems.size(), 0), left;
      for (std::size_t s = 0; s < systems.size(); ++s)
        left.insert(left.end(), systems[s].size(), s);
      for (std::size_t k = left.size(); mixed && k > 1; --k)
        std::swap(left[k - 1], left[random.below(k)]);
      for (std::size_t const s : left)
      {
        column.push_back(static_cast<std::int64_t>(s));
        for (int a = 0; a < Dim; ++a) x.columns[a].push_back(systems[s].columns[a][taken[s]]);
        ++taken[s];
      }
      of = systems_of(column, systems.size());
    }

    /// The index in the batch of a point of a system.
    [[nodiscard]] index_type index(std::size_t system, index_type i) const
    {
      index_type const k = of.offsets[system] + i;
      return of.order.empty() ? k : of.order[k];
    }
  };

  /// Systems with none, one, two and more points.
  template <class T, int Dim>
  struct batch_case
  {
    std::vector<points<T, Dim>> x_of, y_of;
    std::vector<double> cutoffs;
    std::vector<cell<Dim>> cells;
    cell_list_options<T, Dim> options;
    bool one_set;
    batch_points<T, Dim> x, y;

    explicit batch_case(std::uint64_t seed, std::size_t n = 9)
        : batch_case(seed, n, random_numbers(seed))
    {}

    [[nodiscard]] systems<Dim> given() const
    {
      systems<Dim> of{
          .offsets = x.of.offsets, .cutoffs = cutoffs, .cells = cells, .order = x.of.order};
      if (one_set) return of;
      of.offsets = y.of.offsets;
      of.order = y.of.order;
      of.query_offsets = x.of.offsets;
      of.query_order = x.of.order;
      return of;
    }
    template <class On>
    [[nodiscard]] cell_list<T, Dim> list(On const& where) const
    {
      if (one_set) return {where, x.x.view(), given(), options};
      return {where, x.x.view(), y.x.view(), given(), options};
    }
    [[nodiscard]] cell_list<T, Dim> list_of(std::size_t s) const
    {
      auto own = options;
      own.cell = cells[s];
      if (one_set) return {x_of[s].view(), cutoffs[s], own};
      return {x_of[s].view(), y_of[s].view(), cutoffs[s], own};
    }

  private:
    batch_case(std::uint64_t seed, std::size_t n, random_numbers random)
        : one_set(random.below(3) > 0), x(sets(seed, n, random)),
          y(y_of, random.below(2) == 0, random)
    {}

    batch_points<T, Dim> sets(std::uint64_t seed, std::size_t n, random_numbers& random)
    {
      bool const open = random.below(4) == 0;
      for (std::size_t s = 0; s < n; ++s)
      {
        random_case<T, Dim> one(seed * n + s, 600, 40);
        if (s == 0)
        {
          options = one.options;
          options.cell = {};
        }
        auto const few = [&](points<T, Dim>& of)
        {
          std::size_t const most = random.below(8);
          if (most < 3)
            for (auto& column : of.columns) column.resize(std::min(column.size(), most));
        };
        if (open) one.options.cell = {};
        few(one.x);
        few(one.y);
        x_of.push_back(one.x);
        y_of.push_back(one.y);
        cutoffs.push_back(one.cutoff);
        cells.push_back(one.options.cell);
      }
      return {x_of, random.below(2) == 0, random};
    }
  };
}
