#pragma once

#include "point_kinds.hpp"
#include "points.hpp"
#include "random_cells.hpp"

#include <nearfield/core/cell.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

/// \file
/// Random systems for lists of several, and the list of each alone.

namespace nearfield::test
{
  using batch_kinds = point_kinds;

  /// The points of systems in one array, one after another or mixed.
  template <class T, int Dim>
  struct points_of_systems
  {
    std::vector<points<T, Dim>> alone;
    points<T, Dim> x;
    std::vector<index_type> offsets{0}, order;

    void add(points<T, Dim> const& system)
    {
      alone.push_back(system);
      for (int a = 0; a < Dim; ++a)
        x.columns[a].insert(x.columns[a].end(), system.columns[a].begin(), system.columns[a].end());
      offsets.push_back(static_cast<index_type>(x.size()));
    }
    /// Deals the points of systems to random places, those of a system in their order.
    void mix(random_numbers& random)
    {
      std::vector<index_type> places(x.size());
      std::iota(places.begin(), places.end(), 0u);
      for (std::size_t k = places.size(); k > 1; --k)
        std::swap(places[k - 1], places[random.below(k)]);
      for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
        std::sort(places.begin() + offsets[s], places.begin() + offsets[s + 1]);
      auto const sorted = x;
      for (std::size_t k = 0; k < places.size(); ++k)
        for (int a = 0; a < Dim; ++a) x.columns[a][places[k]] = sorted.columns[a][k];
      order = places;
    }
    /// The index of point k of a system.
    [[nodiscard]] index_type index(std::size_t s, index_type k) const
    {
      return order.empty() ? offsets[s] + k : order[offsets[s] + k];
    }
  };

  template <class T, int Dim>
  struct batch
  {
    points_of_systems<T, Dim> targets, sources;
    std::vector<double> cutoffs;
    std::vector<cell<Dim>> cells;
    cell_list_options<T, Dim> options;
    bool one_set = true;

    batch(std::uint64_t seed, std::size_t n_systems, std::size_t most_points)
    {
      random_numbers random(seed);
      one_set = random.below(3) > 0;
      options.closed = random.below(2) == 0;
      for (int& k : options.cells_per_cutoff) k = static_cast<int>(random.below(4));
      bool const one_cutoff = random.below(3) == 0;
      std::size_t const n_cells =
          std::array<std::size_t, 3>{n_systems, 1, 0}[std::min<std::size_t>(random.below(4), 2)];
      double const largest = double(T(std::pow(10, random.uniform(-2, 2))));
      for (std::size_t s = 0; s < (one_cutoff ? 1 : n_systems); ++s)
        cutoffs.push_back(largest * random.uniform(0.5, 1));
      for (std::size_t s = 0; s < n_cells; ++s) cells.push_back(random_cell<Dim>(random, largest));
      for (std::size_t s = 0; s < n_systems; ++s)
      {
        detail::cell_frame<Dim> const frame(cell_of(s));
        auto const make = [&]
        {
          std::size_t const n = random.below(3) == 0 ? random.below(3) : random.below(most_points);
          auto made = points_around<T, Dim>(random, frame, largest, n);
          if (random.below(2) == 0)
            for (std::size_t i = 0; i < n; ++i) // all inside
            {
              auto const point = frame.reduce(made[i]);
              for (int a = 0; a < Dim; ++a) made.columns[a][i] = point.at[a];
            }
          return made;
        };
        targets.add(make());
        if (!one_set) sources.add(make());
      }
      if (random.below(3) > 0) return;
      targets.mix(random);
      sources.mix(random);
    }

    [[nodiscard]] cell<Dim> cell_of(std::size_t s) const
    {
      return cells.empty() ? cell<Dim>() : cells[cells.size() == 1 ? 0 : s];
    }
    [[nodiscard]] double cutoff(std::size_t s) const
    {
      return cutoffs[cutoffs.size() == 1 ? 0 : s];
    }
    [[nodiscard]] systems<Dim> given() const
    {
      auto const& points = one_set ? targets : sources;
      systems<Dim> of{
          .offsets = points.offsets, .cutoffs = cutoffs, .cells = cells, .order = points.order};
      if (one_set) return of;
      of.query_offsets = targets.offsets;
      of.query_order = targets.order;
      return of;
    }
    [[nodiscard]] cell_list<T, Dim> list(std::size_t s) const
    {
      auto of_system = options;
      of_system.cell = cell_of(s);
      return one_set ? cell_list<T, Dim>(targets.alone[s].view(), cutoff(s), of_system)
                     : cell_list<T, Dim>(targets.alone[s].view(), sources.alone[s].view(),
                                         cutoff(s), of_system);
    }
  };
}
