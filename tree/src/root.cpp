#include "root.hpp"

#include "images.hpp"
#include "instantiate.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    template <class T, int Dim>
    std::array<double, Dim> point_of(strided<T const, Dim> const& x, std::size_t i)
    {
      std::array<double, Dim> point;
      for (int d = 0; d < Dim; ++d) point[d] = x[d][i];
      return point;
    }

    template <class Values>
    std::string tuple_of(Values const& values)
    {
      std::string text;
      for (auto const value : values) text += (text.empty() ? "(" : ", ") + number_text(value);
      return text + ")";
    }

    template <int Dim>
    std::string describe(cube<Dim> const& root)
    {
      return "centre " + tuple_of(root.centre) + " and half width " + number_text(root.half_width);
    }

    /// "point 3 of targets at (1, 2, nan)"
    template <class T, int Dim>
    std::string describe(named_positions<T, Dim> const& points, std::size_t i)
    {
      return "point " + std::to_string(i) + " of " + points.name + " at " +
             tuple_of(point_of(points.positions, i));
    }

    template <int Dim>
    void require_valid(cube<Dim> const& root)
    {
      bool const centred =
          std::ranges::all_of(root.centre, [](double x) { return std::isfinite(x); });
      if (!centred || !(root.half_width > 0) || !std::isfinite(root.width()))
        throw error("build_tree: the root has " + describe(root) +
                    "; give a finite centre and a positive, finite width, or use other units of "
                    "length");
    }

    template <int Dim, class Values>
    bool is_inside(Values const& x, tree_options<Dim> const& options, double limit)
    {
      bool inside = true;
      for (int d = 0; d < Dim; ++d)
        inside &= options.period[d] > 0 ||
                  std::abs(static_cast<double>(x[d]) - options.root->centre[d]) <= limit;
      return inside;
    }

    template <class T, int Dim>
    void require_inside(named_positions<T, Dim> const& points, point_bounds<T, Dim> const& bounds,
                        tree_options<Dim> const& options)
    {
      cube<Dim> const& root = *options.root;
      double const limit =
          root.half_width * (1 + 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
      auto const& x = points.positions;
      // Differences are rounded, but keep their order: between the bounds all points are inside.
      if (x.size() == 0 ||
          (is_inside(bounds.lower, options, limit) && is_inside(bounds.upper, options, limit)))
        return;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!is_inside(point_of(x, i), options, limit))
          throw error("build_tree: " + describe(points, i) + " lies outside the root of " +
                      describe(root) + "; give a root that holds every point");
    }
  }

  template <class T, int Dim>
  key_layout layout_of(tree_options<Dim> const& options)
  {
    check_periods<T>(options.period);
    if (options.level && (*options.level < 0 || *options.level > max_level<Dim>))
      throw error("build_tree: level is " + std::to_string(*options.level) + "; give 0 to " +
                  std::to_string(max_level<Dim>) + " in " + std::to_string(Dim) + "D");
    if (!options.level && options.max_leaf_size < 1 && options.max_leaf_size != automatic)
      throw error("build_tree: max_leaf_size is " + std::to_string(options.max_leaf_size) +
                  "; give at least 1, or automatic");
    if (!options.level && options.order == leaf_order::row_major)
      throw error("build_tree: order is row_major, but leaves of different sizes have no rows; "
                  "give a level, or leaf_order::morton");
    if (options.level) return {options.order.value_or(leaf_order::row_major), *options.level};
    return {leaf_order::morton, max_level<Dim>};
  }

  template <class T, int Dim>
  point_bounds<T, Dim> valid_bounds(executor& on, named_positions<T, Dim> const& points,
                                    std::type_identity_t<std::array<double, Dim>> const& period)
  {
    std::size_t const n = points.positions.size();
    if (n >= std::numeric_limits<index_type>::max())
      throw error(std::string("build_tree: ") + points.name + " has " + std::to_string(n) +
                  " points; give fewer than 2^32 - 1");
    point_bounds<T, Dim> bounds;
    bounds.lower.fill(std::numeric_limits<T>::infinity());
    bounds.upper.fill(-std::numeric_limits<T>::infinity());
    if (n == 0) return bounds;
    for (int d = 0; d < Dim; ++d)
      if (points.positions[d].first == nullptr)
        throw error(std::string("build_tree: column ") + std::to_string(d) + " of " + points.name +
                    " is null; give " + std::to_string(n) + " values");
    auto const found = bounds_of(on, points.positions);
    for (int d = 0; d < Dim; ++d)
    {
      bounds.lower[d] = found[d].lower;
      bounds.upper[d] = found[d].upper;
      if (found[d].is_finite) continue;
      std::size_t i = 0;
      while (std::isfinite(points.positions[d][i])) ++i;
      throw error("build_tree: " + describe(points, i) +
                  " is not finite; remove it or correct the coordinates");
    }
    for (int d = 0; d < Dim; ++d)
    {
      if (!(period[d] > 0)) continue;
      T const length = static_cast<T>(period[d]);
      if (bounds.lower[d] >= 0 && bounds.upper[d] < length) continue;
      std::size_t i = 0;
      while (points.positions[d][i] >= 0 && points.positions[d][i] < length) ++i;
      throw error("build_tree: " + describe(points, i) + " lies outside the periodic box [0, " +
                  number_text(length) + ") of axis " + std::to_string(d) +
                  "; wrap it into the box, as nearfield::wrap() does");
    }
    return bounds;
  }

  template <int Dim>
  cube<Dim> cube_around(std::array<double, Dim> const& lower, std::array<double, Dim> const& upper,
                        std::array<double, Dim> const& period)
  {
    cube<Dim> root;
    root.half_width = 0;
    for (int d = 0; d < Dim; ++d)
    {
      if (period[d] > 0)
      {
        root.half_width = std::max(root.half_width, period[d] / 2);
        continue;
      }
      // Halve first: the sum and the difference of two large numbers may overflow. Add 0: it may be -0.
      root.centre[d] = lower[d] / 2 + upper[d] / 2 + 0.;
      root.half_width = std::max(root.half_width, upper[d] / 2 - lower[d] / 2);
    }
    // All points at one place: any box around it will do.
    if (root.half_width == 0) root.half_width = 1;
    return root;
  }

  template <class T, int Dim>
  cube<Dim> choose_root(tree_options<Dim> const& options, named_positions<T, Dim> const& targets,
                        point_bounds<T, Dim> const& target_bounds,
                        named_positions<T, Dim> const& sources,
                        point_bounds<T, Dim> const& source_bounds)
  {
    auto const is_empty = [](point_bounds<T, Dim> const& bounds)
    {
      return bounds.lower[0] > bounds.upper[0];
    };
    cube<Dim> root;
    if (options.root)
    {
      root = *options.root;
      require_valid(root);
      require_inside(targets, target_bounds, options);
      require_inside(sources, source_bounds, options);
    }
    else if (!is_empty(target_bounds) || !is_empty(source_bounds))
    {
      std::array<double, Dim> lower, upper;
      for (int d = 0; d < Dim; ++d)
      {
        lower[d] = std::min(target_bounds.lower[d], source_bounds.lower[d]);
        upper[d] = std::max(target_bounds.upper[d], source_bounds.upper[d]);
      }
      root = cube_around<Dim>(lower, upper, options.period);
    }
    require_valid(root);
    for (int d = 0; d < Dim; ++d)
      if (options.period[d] > 0) root.centre[d] = options.period[d] / 2;
    return root;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template key_layout layout_of<T>(tree_options<Dim> const&);                                      \
  template point_bounds<T, Dim> valid_bounds(executor&, named_positions<T, Dim> const&,            \
                                             std::array<double, Dim> const&);                      \
  template cube<Dim> choose_root(tree_options<Dim> const&, named_positions<T, Dim> const&,         \
                                 point_bounds<T, Dim> const&, named_positions<T, Dim> const&,      \
                                 point_bounds<T, Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
  template cube<2> cube_around<2>(std::array<double, 2> const&, std::array<double, 2> const&,
                                  std::array<double, 2> const&);
  template cube<3> cube_around<3>(std::array<double, 3> const&, std::array<double, 3> const&,
                                  std::array<double, 3> const&);
}
