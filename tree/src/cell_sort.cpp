#include "cell_sort.hpp"

#include "column_bounds.hpp"
#include "instantiate.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
    // Counting costs 4 bytes per cell; sorting by key costs 32 per point, and several passes.
    template <int Dim, class T>
    bool are_counted(cell_grid<T, Dim> const& grid, std::size_t n)
    {
      return grid.size() <= std::min(4 * std::uint64_t(n) + 1024,
                                     std::uint64_t(std::numeric_limits<std::uint32_t>::max()));
    }

    template <class T, int Dim>
    std::uint64_t key_of(cell_grid<T, Dim> const& grid, strided<T const, Dim> const& points,
                         std::size_t i)
    {
      std::array<std::uint32_t, Dim> at;
      for (int a = 0; a < Dim; ++a) at[a] = grid.index(a, points[a][i]);
      return grid.key(at);
    }

    /// 0 for -0, so that zero displacements have one sign: no other difference is -0.
    template <class T>
    T positive_zero(T x)
    {
      return x + T(0);
    }

    template <class T, int Dim>
    void count_into_cells(strided<T const, Dim> const& points, cell_grid<T, Dim> const& grid,
                          sorted_cells<T, Dim>& sorted, cell_sort_scratch& scratch)
    {
      std::size_t const n = points.size();
      std::size_t const n_cells = grid.size();
      scratch.cell_of_point.resize(n);
      // copies: as far as the compiler knows, a store to cell_of_point could change the grid
      cell_grid<T, Dim> const cells = grid;
      strided<T const, Dim> const x = points;
      std::uint32_t* const cell_of = scratch.cell_of_point.data();
      for (std::size_t i = 0; i < n; ++i)
        cell_of[i] = static_cast<std::uint32_t>(key_of(cells, x, i));

      scratch.cursors.assign(n_cells, 0);
      index_type* const cursors = scratch.cursors.data();
      for (std::size_t i = 0; i < n; ++i) ++cursors[cell_of[i]];
      index_type sum = 0;
      for (std::size_t c = 0; c < n_cells; ++c)
      {
        index_type const count = cursors[c];
        if (count > 0)
        {
          sorted.keys.push_back(c);
          sorted.offsets.push_back(sum);
        }
        cursors[c] = sum;
        sum += count;
      }
      index_type* const order = sorted.order.data();
      for (std::size_t i = 0; i < n; ++i) order[cursors[cell_of[i]]++] = static_cast<index_type>(i);
      // random reads rather than random writes: loads can overtake each other
      for (int d = 0; d < Dim; ++d)
      {
        auto const from = points[d];
        T* const to = sorted.x[d].data();
        for (std::size_t p = 0; p < n; ++p) to[p] = positive_zero(from[order[p]]);
      }
    }

    template <class T, int Dim>
    void sort_keys_into_cells(strided<T const, Dim> const& points, cell_grid<T, Dim> const& grid,
                              sorted_cells<T, Dim>& sorted, cell_sort_scratch& scratch)
    {
      std::size_t const n = points.size();
      scratch.keyed.resize(n);
      for (std::size_t i = 0; i < n; ++i)
        scratch.keyed[i] = {key_of(grid, points, i), static_cast<index_type>(i)};
      sort_by_key(scratch.keyed, scratch.keyed_too, std::bit_width(grid.size() - 1));
      std::vector<keyed_point> const& keyed = scratch.keyed;
      for (std::size_t p = 0; p < n; ++p)
      {
        if (p == 0 || keyed[p].key != keyed[p - 1].key)
        {
          sorted.keys.push_back(keyed[p].key);
          sorted.offsets.push_back(static_cast<index_type>(p));
        }
        sorted.order[p] = keyed[p].index;
      }
      for (int d = 0; d < Dim; ++d)
        for (std::size_t p = 0; p < n; ++p)
          sorted.x[d][p] = positive_zero(points[d][sorted.order[p]]);
    }
  }

  template <class T, int Dim>
  void sort_into_cells(strided<T const, Dim> const& points, cell_grid<T, Dim> const& grid,
                       sorted_cells<T, Dim>& sorted, cell_sort_scratch& scratch)
  {
    std::size_t const n = points.size();
    constexpr std::size_t padding = cell_view<T, Dim>::padding;
    for (auto& column : sorted.x)
    {
      column.resize(n + padding);
      std::fill_n(column.begin() + static_cast<std::ptrdiff_t>(n), padding, T(0));
    }
    sorted.order.resize(n + padding);
    std::fill_n(sorted.order.begin() + static_cast<std::ptrdiff_t>(n), padding, 0);
    sorted.keys.clear();
    sorted.offsets.clear();
    if (are_counted(grid, n))
      count_into_cells(points, grid, sorted, scratch);
    else
      sort_keys_into_cells(points, grid, sorted, scratch);
    sorted.offsets.push_back(static_cast<index_type>(n));
  }

  namespace
  {
    template <class T>
    [[noreturn]] void complain(char const* name, std::size_t i, int axis, T value, T period)
    {
      throw error("cell_list: coordinate " + std::to_string(axis) + " of point " +
                  std::to_string(i) + " of the " + name + " is " + number_text(value) +
                  (std::isfinite(value) ? ", outside the periodic box [0, " + number_text(period) +
                                              "); wrap it into the box"
                                        : "; give finite coordinates"));
    }
  }

  template <class T, int Dim>
  void extend_bounds(point_bounds<T, Dim>& bounds, strided<T const, Dim> const& points,
                     std::type_identity_t<std::array<T, Dim>> const& period, char const* name)
  {
    std::size_t const n = points.size();
    if (n == 0) return;
    for (int a = 0; a < Dim; ++a)
    {
      auto const x = points[a];
      column_bounds<T> const column = bounds_of(x, n);
      bool const inside = !(period[a] > 0) || (column.lower >= T(0) && column.upper < period[a]);
      if (!column.is_finite || !inside)
        for (std::size_t i = 0; i < n; ++i)
          if (!std::isfinite(x[i]) || (period[a] > 0 && !(x[i] >= T(0) && x[i] < period[a])))
            complain(name, i, a, x[i], period[a]);
      bounds.lower[a] = std::min(bounds.lower[a], column.lower);
      bounds.upper[a] = std::max(bounds.upper[a], column.upper);
    }
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void sort_into_cells(strided<T const, Dim> const&, cell_grid<T, Dim> const&,            \
                                sorted_cells<T, Dim>&, cell_sort_scratch&);                        \
  template void extend_bounds(point_bounds<T, Dim>&, strided<T const, Dim> const&,                 \
                              std::type_identity_t<std::array<T, Dim>> const&, char const*);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
