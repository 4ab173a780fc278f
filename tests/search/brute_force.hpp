#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// \file
/// All pairs of points and their order by definition: the reference for all searches. The rounding of each
/// operation is part of the definition: compile with -ffp-contract=off.

namespace nearfield::test
{
  using pair_list = std::vector<std::pair<index_type, index_type>>;
  using neighbour_rows = std::vector<std::vector<index_type>>;

  /// (i, j) for every j of every row i.
  inline pair_list entries_of(neighbour_rows const& rows)
  {
    pair_list result;
    for (index_type i = 0; i < rows.size(); ++i)
      for (index_type const j : rows[i]) result.emplace_back(i, j);
    return result;
  }

  /// The definition of a pair of points in a box of at least two cutoffs, where only the nearest image can be one.
  template <class T, int Dim>
  struct pair_definition
  {
    soa<T const, Dim> x, y;
    T cutoff;
    std::array<T, Dim> period;

    /// How many periods are added to j.
    [[nodiscard]] T image(int a, std::size_t i, std::size_t j) const
    {
      return period[a] > 0 ? std::round((x[a][i] - y[a][j]) / period[a]) : T(0);
    }
    [[nodiscard]] T difference(int a, std::size_t i, std::size_t j) const
    {
      T const d = (x[a][i] + T(0)) - (y[a][j] + T(0)); // -0 is 0
      return d - period[a] * image(a, i, j);
    }
    [[nodiscard]] T r2(std::size_t i, std::size_t j) const
    {
      T const dx = difference(0, i, j), dy = difference(1, i, j);
      if constexpr (Dim == 2)
        return dx * dx + dy * dy;
      else
      {
        T const dz = difference(2, i, j);
        return (dx * dx + dy * dy) + dz * dz;
      }
    }
    [[nodiscard]] bool is_in(std::size_t i, std::size_t j) const
    {
      return r2(i, j) < cutoff * cutoff;
    }
  };

  /// The reference pairs by position, from a loop over all pairs of points.
  template <class T, int Dim>
  struct brute_force
  {
    pair_definition<T, Dim> definition;
    detail::cell_grid<T, Dim> grid;
    std::shared_ptr<cell_list<T, Dim> const> cells; ///< if the grid leaves gaps out: it owns them
    bool one_set = true;
    std::vector<index_type> target_order, source_order;
    /// rows[p]: the positions of the neighbours of the target at position p, in the order of their cells, that of
    /// positions unless cells meet in several images
    neighbour_rows rows;

    brute_force(soa<T const, Dim> const& points, T cutoff, cell_list_options<T, Dim> const& options)
        : brute_force(points, points, cutoff, options, true)
    {}
    brute_force(soa<T const, Dim> const& queries, soa<T const, Dim> const& points, T cutoff,
                cell_list_options<T, Dim> const& options)
        : brute_force(queries, points, cutoff, options, false)
    {}

    /// Pairs of the caller's indices (i, j), in order of the positions.
    [[nodiscard]] pair_list list(pairs which) const
    {
      pair_list result;
      for (std::size_t p = 0; p < rows.size(); ++p)
        for (index_type const q : rows[p])
          if (which == pairs::full || q > p) result.emplace_back(target_order[p], source_order[q]);
      return result;
    }
    /// The row of each point, at the caller's index.
    [[nodiscard]] neighbour_rows lists(pairs which) const
    {
      neighbour_rows result(rows.size());
      for (std::size_t p = 0; p < rows.size(); ++p)
        for (index_type const q : rows[p])
          if (which == pairs::full || q > p) result[target_order[p]].push_back(source_order[q]);
      return result;
    }

    /// A description of a pair, for messages.
    [[nodiscard]] std::string about(std::size_t i, std::size_t j) const
    {
      std::ostringstream text;
      text.precision(std::numeric_limits<T>::max_digits10);
      if (i >= definition.x.size() || j >= definition.y.size())
      {
        text << "(" << i << ", " << j << ") of " << definition.x.size() << " and "
             << definition.y.size() << " points";
        return text.str();
      }
      text << "(" << i << ", " << j << "): r2 / R^2 - 1 = "
           << double(definition.r2(i, j)) / double(definition.cutoff * definition.cutoff) - 1
           << ", positions " << position(target_order, i) << " and " << position(source_order, j);
      for (int side = 0; side < 2; ++side)
      {
        auto const& x = side == 0 ? definition.x : definition.y;
        std::size_t const k = side == 0 ? i : j;
        text << (side == 0 ? ", at (" : " and (");
        for (int a = 0; a < Dim; ++a) text << (a ? ", " : "") << x[a][k];
        text << ") in cell (";
        for (int a = 0; a < Dim; ++a) text << (a ? ", " : "") << grid.index(a, at(x, k));
        text << ")";
      }
      text << " of (";
      for (int a = 0; a < Dim; ++a) text << (a ? ", " : "") << grid.cells[a];
      text << ")";
      return text.str();
    }

  private:
    brute_force(soa<T const, Dim> const& queries, soa<T const, Dim> const& points, T cutoff,
                cell_list_options<T, Dim> const& options, bool is_one_set)
        : definition{queries, points, cutoff, options.period}, one_set(is_one_set)
    {
      detail::points_along<Dim> bounds;
      bool first = true;
      for (auto const& set : {queries, points})
        for (std::size_t i = 0; i < set.size(); ++i, first = false)
          for (int a = 0; a < Dim; ++a)
          {
            double const x = double(set[a][i]);
            bounds.lower[a] = first ? x : std::min(bounds.lower[a], x);
            bounds.upper[a] = first ? x : std::max(bounds.upper[a], x);
            bounds.largest = std::max(bounds.largest, std::abs(x));
          }
      grid = detail::make_cell_grid(bounds, cutoff, options);
      if (std::ranges::count(grid.cells, max_cells_per_axis) > 0)
      {
        cells = is_one_set ? std::make_shared<cell_list<T, Dim>>(queries, cutoff, options)
                           : std::make_shared<cell_list<T, Dim>>(queries, points, cutoff, options);
        grid = cells->grid();
      }
      target_order = order_of(queries);
      source_order = order_of(points);
      std::vector<index_type> place(points.size());
      for (index_type p = 0; p < points.size(); ++p) place[source_order[p]] = p;
      rows.resize(queries.size());
      for (index_type p = 0; p < queries.size(); ++p)
      {
        index_type const i = target_order[p];
        // r2 is exactly even in d, so with one set each pair is tested once
        for (index_type q = one_set ? p + 1 : 0; q < points.size(); ++q)
          if (definition.is_in(i, source_order[q]))
          {
            rows[p].push_back(q);
            if (one_set) rows[q].push_back(p);
          }
      }
      for (index_type p = 0; p < queries.size(); ++p) sort_row(p);
    }

    /// By cell, the images from the last to the first; then by position.
    void sort_row(index_type p)
    {
      std::vector<std::pair<std::array<std::int64_t, 2 * Dim>, index_type>> order;
      for (index_type const q : rows[p])
      {
        index_type const i = target_order[p], j = source_order[q];
        auto& key = order.emplace_back(std::array<std::int64_t, 2 * Dim>(), q).first;
        for (int a = 0; a < Dim; ++a)
        {
          key[2 * a] = -static_cast<std::int64_t>(definition.image(a, i, j));
          key[2 * a + 1] = grid.index(a, at(definition.y, j));
        }
      }
      std::sort(order.begin(), order.end());
      for (std::size_t k = 0; k < order.size(); ++k) rows[p][k] = order[k].second;
    }

    static std::array<T, Dim> at(soa<T const, Dim> const& x, std::size_t i)
    {
      std::array<T, Dim> point;
      for (int a = 0; a < Dim; ++a) point[a] = x[a][i];
      return point;
    }

    std::vector<index_type> order_of(soa<T const, Dim> const& x) const
    {
      std::vector<std::uint64_t> keys(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        std::array<std::uint32_t, Dim> cell;
        for (int a = 0; a < Dim; ++a) cell[a] = grid.index(a, at(x, i));
        keys[i] = grid.key(cell);
      }
      std::vector<index_type> order(x.size());
      std::iota(order.begin(), order.end(), index_type(0));
      std::stable_sort(order.begin(), order.end(),
                       [&](index_type a, index_type b) { return keys[a] < keys[b]; });
      return order;
    }

    static std::size_t position(std::vector<index_type> const& order, std::size_t i)
    {
      return std::find(order.begin(), order.end(), index_type(i)) - order.begin();
    }
  };
}
