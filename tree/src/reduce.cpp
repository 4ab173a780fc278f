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
      constexpr double infinity = std::numeric_limits<double>::infinity();
      bounds.lower.fill(infinity);
      bounds.upper.fill(-infinity);
      auto const take = [&](points_along<Dim>& own, std::size_t begin, std::size_t end)
      {
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
      };
      loop_parts const loop = cut(on, points.size());
      if (loop.parts == 1) return take(bounds, 0, loop.n);
      std::vector<points_along<Dim>> found(loop.parts, bounds);
      for_each_part(on, loop,
                    [&](int part, std::size_t begin, std::size_t end)
                    {
                      points_along<Dim> own = found[part];
                      take(own, begin, end);
                      found[part] = own;
                    });
      for (auto const& part : found) bounds = united(bounds, part);
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
  void bring_inside(executor& on, cell_frame<Dim> const& frame, strided<T const, Dim> const& points,
                    char const* name, soa<T, Dim> const& to,
                    std::type_identity_t<image_counters<Dim>>* counters, char const* function)
  {
    std::size_t const n = points.size();
    std::atomic<std::size_t> first_bad = n;
    for_each_part(on, cut(on, n),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t i = begin; i < end; ++i)
                    {
                      auto const point = frame.reduce(point_at(points, i));
                      for (int a = 0; a < Dim; ++a) to[a][i] = point.at[a];
                      counters[i] = point.image;
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
    auto const moved = columns_in<Dim>(std::span(to.moved), n);
    bring_inside(on, frame, points, name, moved, to.counters.data(), function);
    to.x = soa<T const, Dim>(moved);
    to.images = to.counters;
    to.bounds = bounds_along(on, frame, to.x, name, function);
    to.bounds.moved = true;
  }

  template <int Dim>
  void write_moves(executor& on, cell_frame<Dim> const& frame,
                   std::type_identity_t<std::span<image_counters<Dim> const>> images,
                   std::span<index_type const> order, std::array<double, 3>* moves)
  {
    for_each_part(on, cut(on, order.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t p = begin; p < end; ++p)
                    {
                      auto const shift = frame.shift(images[order[p]]);
                      moves[p] = {};
                      for (int a = 0; a < Dim; ++a) moves[p][a] = 0 - shift[a];
                    }
                  });
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template points_along<Dim> bounds_along(executor&, cell_frame<Dim> const&,                       \
                                          strided<T const, Dim> const&, char const*, char const*); \
  template void bring_inside(executor&, cell_frame<Dim> const&, strided<T const, Dim> const&,      \
                             char const*, soa<T, Dim> const&, image_counters<Dim>*, char const*);  \
  template void reduce_points(executor&, cell_frame<Dim> const&, strided<T const, Dim> const&,     \
                              char const*, reduced_points<T, Dim>&, char const*);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template void write_moves(executor&, cell_frame<Dim> const&,                                     \
                            std::span<image_counters<Dim> const>, std::span<index_type const>,     \
                            std::array<double, 3>*);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
