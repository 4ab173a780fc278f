#include "reduce.hpp"

#include "column_bounds.hpp"
#include "instantiate.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// Bounds along the normals of an oblique frame.
    template <class T, int Dim>
    void find_along(executor& on, cell_frame<Dim> const& frame, strided<T const, Dim> const& points,
                    points_along<Dim>& bounds)
    {
      loop_parts const loop = cut(on, points.size());
      std::vector<points_along<Dim>> found(loop.parts);
      constexpr double infinity = std::numeric_limits<double>::infinity();
      for_each_part(on, loop,
                    [&](int part, std::size_t begin, std::size_t end)
                    {
                      points_along<Dim> own;
                      own.lower.fill(infinity);
                      own.upper.fill(-infinity);
                      for (std::size_t i = begin; i < end; ++i)
                      {
                        auto const x = widened(point_at(points, i));
                        for (int a = 0; a < Dim; ++a)
                        {
                          double const along = frame.along(a, x);
                          own.lower[a] = std::min(own.lower[a], along);
                          own.upper[a] = std::max(own.upper[a], along);
                        }
                      }
                      found[part] = own;
                    });
      double const largest = bounds.largest;
      bounds = found[0];
      for (auto const& part : found) bounds = united(bounds, part);
      bounds.largest = largest;
    }
  }

  template <class T, int Dim>
  points_along<Dim> bounds_along(executor& on, cell_frame<Dim> const& frame,
                                 strided<T const, Dim> const& points, char const* name,
                                 char const* function)
  {
    points_along<Dim> bounds;
    if (points.size() == 0) return bounds;
    auto const columns = bounds_of(on, points);
    for (int a = 0; a < Dim; ++a)
    {
      if (!columns[a].is_finite)
        for (std::size_t i = 0; i < points.size(); ++i)
          if (!std::isfinite(points[a][i]))
            throw error(std::string(function) + ": coordinate " + std::to_string(a) + " of point " +
                        std::to_string(i) + " of the " + name + " is " + number_text(points[a][i]) +
                        "; give finite coordinates");
      bounds.lower[a] = double(columns[a].lower);
      bounds.upper[a] = double(columns[a].upper);
      bounds.largest =
          std::max({bounds.largest, std::abs(bounds.lower[a]), std::abs(bounds.upper[a])});
    }
    if (!frame.is_aligned) find_along(on, frame, points, bounds);
    return bounds;
  }

  template <class T, int Dim>
  void reduce_points(executor& on, cell_frame<Dim> const& frame,
                     strided<T const, Dim> const& points, char const* name,
                     reduced_points<T, Dim>& to, char const* function)
  {
    to.bounds = bounds_along(on, frame, points, name, function);
    to.x = points;
    to.images = {};
    std::size_t const n = points.size();
    if (n == 0 || are_inside(frame, to.bounds)) return;
    renew(to.moved, Dim * n);
    renew(to.counters, n);
    std::atomic<std::size_t> first_bad = n;
    for_each_part(on, cut(on, n),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t i = begin; i < end; ++i)
                    {
                      auto const point = frame.reduce(point_at(points, i));
                      for (int a = 0; a < Dim; ++a) to.moved[a * n + i] = point.at[a];
                      to.counters[i] = point.image;
                      if (point.fits) continue;
                      for (std::size_t seen = first_bad;
                           i < seen && !first_bad.compare_exchange_weak(seen, i);)
                      {}
                      return;
                    }
                  });
    if (std::size_t const i = first_bad; i < n)
    {
      std::string text;
      for (int a = 0; a < Dim; ++a) text += (a > 0 ? ", " : "") + number_text(points[a][i]);
      throw error(std::string(function) + ": point " + std::to_string(i) + " of the " + name +
                  ", (" + text +
                  "), is more than 2^29 boxes away from the box; subtract whole multiples of its "
                  "vectors first");
    }
    std::array<T const*, Dim> columns;
    for (int a = 0; a < Dim; ++a) columns[a] = to.moved.data() + a * n;
    to.x = soa<T const, Dim>(columns, n);
    to.images = to.counters;
    to.bounds = bounds_along(on, frame, to.x, name, function);
    to.bounds.moved = true;
  }

  template <class T, int Dim>
  std::vector<std::array<double, 3>> moves_of(executor& on, cell_frame<Dim> const& frame,
                                              reduced_points<T, Dim> const& points,
                                              std::span<index_type const> order)
  {
    std::vector<std::array<double, 3>> moves(points.images.empty() ? 0 : order.size());
    for_each_part(on, cut(on, moves.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t p = begin; p < end; ++p)
                    {
                      auto const shift = frame.shift(points.images[order[p]]);
                      for (int a = 0; a < Dim; ++a) moves[p][a] = 0 - shift[a];
                    }
                  });
    return moves;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template points_along<Dim> bounds_along(executor&, cell_frame<Dim> const&,                       \
                                          strided<T const, Dim> const&, char const*, char const*); \
  template void reduce_points(executor&, cell_frame<Dim> const&, strided<T const, Dim> const&,     \
                              char const*, reduced_points<T, Dim>&, char const*);                  \
  template std::vector<std::array<double, 3>> moves_of(executor&, cell_frame<Dim> const&,          \
                                                       reduced_points<T, Dim> const&,              \
                                                       std::span<index_type const>);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
