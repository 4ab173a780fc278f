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

  /// The definition of a pair, as in docs/conventions.md.
  template <class T, int Dim>
  struct pair_definition
  {
    soa<T const, Dim> x, y;
    T cutoff;
    std::array<T, Dim> period;

    [[nodiscard]] T difference(int a, std::size_t i, std::size_t j) const
    {
      T const d = (x[a][i] + T(0)) - (y[a][j] + T(0)), length = period[a]; // -0 is 0
      return length > 0 ? d - length * std::round(d / length) : d;
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
    /// rows[p]: the positions of the neighbours of the target at position p, ascending
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
        for (int a = 0; a < Dim; ++a) text << (a ? ", " : "") << grid.index(a, x[a][k]);
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
      std::array<T, Dim> lower{}, upper{};
      bool first = true;
      for (auto const& set : {queries, points})
        for (std::size_t i = 0; i < set.size(); ++i, first = false)
          for (int a = 0; a < Dim; ++a)
          {
            lower[a] = first ? set[a][i] : std::min(lower[a], set[a][i]);
            upper[a] = first ? set[a][i] : std::max(upper[a], set[a][i]);
          }
      grid = detail::make_cell_grid<T, Dim>(lower, upper, cutoff, options);
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
      for (auto& row : rows) std::sort(row.begin(), row.end());
    }

    std::vector<index_type> order_of(soa<T const, Dim> const& x) const
    {
      std::vector<std::uint64_t> keys(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        std::array<std::uint32_t, Dim> at;
        for (int a = 0; a < Dim; ++a) at[a] = grid.index(a, x[a][i]);
        keys[i] = grid.key(at);
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
