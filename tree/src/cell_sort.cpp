#include "cell_sort.hpp"

#include "instantiate.hpp"
#include "reduce.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace nearfield::detail
{
  namespace
  {
    /// The keys of the points [begin, end), whose places along each axis are place(grid, axis, x).
    template <class Key, class T, int Dim, class Place>
    void write_cells(cell_grid<T, Dim> const& given, strided<T const, Dim> const& points,
                     std::size_t begin, std::size_t end, Key* keys, Place const& place)
    {
      // copies: as far as the compiler knows, a store to a key could change the grid
      cell_grid<T, Dim> const grid = given;
      strided<T const, Dim> const x = points;
      for (std::size_t i = begin; i < end; ++i)
      {
        std::array<T, Dim> const point = point_at(x, i);
        std::array<std::uint32_t, Dim> at;
        for (int a = 0; a < Dim; ++a) at[a] = grid.index_of(a, place(grid, a, point));
        keys[i] = static_cast<Key>(grid.key(at));
      }
    }
  }

  template <class T, int Dim>
  void sort_into_cells(executor& on, strided<T const, Dim> const& points,
                       cell_grid<T, Dim> const& grid, std::size_t first,
                       points_by_cell<T, Dim>& sorted, occupied_cells& cells, sort_scratch& scratch)
  {
    std::size_t const n = points.size();
    auto const order = std::span(sorted.order).subspan(first, n);
    bool const has_pieces =
        std::ranges::any_of(grid.pieces, [](axis_pieces const& axis) { return axis.n > 0; });
    auto const write = [&](auto* keys, auto const& place)
    {
      for_each_part(on, cut(on, n), [&](int, std::size_t begin, std::size_t end)
                    { write_cells(grid, points, begin, end, keys, place); });
    };
    order_by_cell(on, grid.size(), order, cells, scratch,
                  [&](auto* keys)
                  {
                    if (!grid.frame.is_aligned)
                      write(keys, [](auto const& of, int a, auto const& x)
                            { return of.place_without_pieces(a, of.along(a, x)); });
                    else if (has_pieces)
                      write(keys, [](auto const& of, int a, auto const& x)
                            { return of.place(a, double(x[a])); });
                    else
                      write(keys, [](auto const& of, int a, auto const& x)
                            { return of.place_without_pieces(a, double(x[a])); });
                  });
    // 0 for -0, so that zero displacements have one sign: no other difference is -0
    gather_columns(on, order, Dim, points, columns_in<Dim>(std::span(sorted.x), n, first),
                   [](T& to, T x) { to = x + T(0); });
  }

  template <class T, int Dim>
  void require_columns(strided<T const, Dim> const& points, char const* name)
  {
    for (int a = 0; a < Dim; ++a)
      if (points.size() > 0 && points[a].first == nullptr)
        throw error("cell_list: column " + std::to_string(a) + " of the " + name +
                    " is null; give a column of " + std::to_string(points.size()) + " values");
    // a search may index a few registers past the last point
    constexpr std::size_t limit = std::numeric_limits<index_type>::max() - 63;
    if (points.size() >= limit)
      throw error("cell_list: " + std::to_string(points.size()) + " " + name +
                  "; split them into sets of fewer than " + std::to_string(limit));
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void sort_into_cells(executor&, strided<T const, Dim> const&, cell_grid<T, Dim> const&, \
                                std::size_t, points_by_cell<T, Dim>&, occupied_cells&,             \
                                sort_scratch&);                                                    \
  template void require_columns(strided<T const, Dim> const&, char const*);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
