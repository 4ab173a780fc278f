#include "cell_pairs.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace baseline
{
  namespace
  {
    template <class T>
    padded_grid<T> grid_around(point_columns<T> const& points, T cutoff, int cells_per_cutoff)
    {
      T smallest[3], largest[3];
      std::vector<T> const* const columns[] = {&points.x, &points.y, &points.z};
      for (int d = 0; d < 3; ++d)
      {
        auto const [low, high] = std::minmax_element(columns[d]->begin(), columns[d]->end());
        smallest[d] = *low;
        largest[d] = *high;
      }
      return {smallest, largest, cutoff, cells_per_cutoff};
    }

    /// Sorts the points by cell; returns the cell of each. A counting sort, since Thrust on the host sorts
    /// integer keys by radix sort.
    template <class T>
    std::vector<int> sort_by_cell(padded_grid<T> const& grid, point_columns<T>& points)
    {
      std::size_t const n = points.x.size();
      std::vector<int> unsorted(n);
      std::vector<std::uint32_t> next(grid.size() + 1, 0);
      for (std::size_t i = 0; i < n; ++i)
      {
        unsorted[i] = grid.cell(points.x[i], points.y[i], points.z[i]);
        ++next[static_cast<std::size_t>(unsorted[i]) + 1];
      }
      std::inclusive_scan(next.begin(), next.end(), next.begin());
      std::vector<std::uint32_t> order(n);
      std::vector<int> cells(n);
      for (std::size_t i = 0; i < n; ++i)
      {
        std::uint32_t const place = next[static_cast<std::size_t>(unsorted[i])]++;
        order[place] = static_cast<std::uint32_t>(i);
        cells[place] = unsorted[i];
      }

      std::vector<T> moved(n);
      for (auto* const column : {&points.x, &points.y, &points.z})
      {
        for (std::size_t i = 0; i < n; ++i) moved[i] = (*column)[order[i]];
        std::swap(*column, moved);
      }
      return cells;
    }

    /// The end of each cell, which is the begin of the next one.
    std::vector<std::size_t> ends_of(std::vector<int> const& cells, std::size_t n_cells)
    {
      std::vector<std::size_t> ends(n_cells, 0);
      for (std::size_t i = 0; i < cells.size(); ++i)
        ends[static_cast<std::size_t>(cells[i])] = i + 1;
      std::size_t last = 0;
      for (std::size_t& end : ends) end = last = std::max(last, end);
      return ends;
    }
  }

  template <class T>
  void find_cell_pairs(point_columns<T>& points, T cutoff, int cells_per_cutoff,
                       pair_columns& pairs)
  {
    pairs.i.clear();
    pairs.j.clear();
    if (points.x.empty()) return;
    auto const grid = grid_around(points, cutoff, cells_per_cutoff);
    auto const cells = sort_by_cell(grid, points);
    auto const ends = ends_of(cells, grid.size());

    // offsets from a point's cell to the first cell of each row that lies entirely before it
    int const k = cells_per_cutoff;
    std::vector<int> rows;
    for (int dx = -k; dx <= 0; ++dx)
      for (int dy = -k; dy <= (dx < 0 ? k : -1); ++dy) rows.push_back(grid.distance(dx, dy, -k));

    T const cutoff2 = cutoff * cutoff;
    T const *const x = points.x.data(), *const y = points.y.data(), *const z = points.z.data();
    std::size_t const* const end = ends.data();
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
      T const xi = x[i], yi = y[i], zi = z[i];
      auto const look = [&](std::size_t from, std::size_t to)
      {
        for (std::size_t j = from; j < to; ++j)
          if (is_pair(xi - x[j], yi - y[j], zi - z[j], cutoff2))
          {
            pairs.i.push_back(static_cast<int>(i));
            pairs.j.push_back(static_cast<int>(j));
          }
      };
      for (int const row : rows)
      {
        int const first = cells[i] + row;
        look(end[first - 1], end[first + 2 * k]);
      }
      look(end[cells[i] - k - 1], i);
    }
  }

  template void find_cell_pairs<float>(point_columns<float>&, float, int, pair_columns&);
  template void find_cell_pairs<double>(point_columns<double>&, double, int, pair_columns&);
}
