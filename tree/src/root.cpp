#include "root.hpp"

#include "column_bounds.hpp"
#include "instantiate.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
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

    template <class T, int Dim>
    void require_inside(named_positions<T, Dim> const& points, cube<Dim> const& root)
    {
      double const limit =
          root.half_width * (1 + 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
      auto const& x = points.positions;
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        bool inside = true;
        for (int d = 0; d < Dim; ++d)
          inside &= std::abs(static_cast<double>(x[d][i]) - root.centre[d]) <= limit;
        if (inside) continue;
        throw error("build_tree: " + describe(points, i) + " lies outside the root of " +
                    describe(root) + "; give a root that holds every point");
      }
    }

    struct interval
    {
      double lower = std::numeric_limits<double>::infinity();
      double upper = -std::numeric_limits<double>::infinity();
    };

    template <class T>
    void extend(interval& extent, strided_column<T const> const& column, std::size_t n)
    {
      if (n == 0) return;
      auto const bounds = bounds_of<T>(column, n);
      extent.lower = std::min(extent.lower, static_cast<double>(bounds.lower));
      extent.upper = std::max(extent.upper, static_cast<double>(bounds.upper));
    }
  }

  template <class T, int Dim>
  std::string describe(named_positions<T, Dim> const& points, std::size_t i)
  {
    std::array<double, Dim> x;
    for (int d = 0; d < Dim; ++d) x[d] = points.positions[d][i];
    return "point " + std::to_string(i) + " of " + points.name + " at " + tuple_of(x);
  }

  template <class T, int Dim>
  void require_valid(named_positions<T, Dim> const& points)
  {
    std::size_t const n = points.positions.size();
    if (n >= std::numeric_limits<index_type>::max())
      throw error(std::string("build_tree: ") + points.name + " has " + std::to_string(n) +
                  " points; give fewer than 2^32 - 1");
    for (int d = 0; d < Dim; ++d)
    {
      auto const column = points.positions[d];
      if (n > 0 && column.first == nullptr)
        throw error(std::string("build_tree: column ") + std::to_string(d) + " of " + points.name +
                    " is null; give " + std::to_string(n) + " values");
      if (n == 0 || bounds_of<T>(column, n).is_finite) continue;
      std::size_t i = 0;
      while (std::isfinite(column[i])) ++i;
      throw error("build_tree: " + describe(points, i) +
                  " is not finite; remove it or correct the coordinates");
    }
  }

  template <class T, int Dim>
  cube<Dim> choose_root(std::optional<cube<Dim>> const& given,
                        named_positions<T, Dim> const& targets,
                        named_positions<T, Dim> const& sources)
  {
    cube<Dim> root;
    if (given)
    {
      root = *given;
      require_valid(root);
      require_inside(targets, root);
      require_inside(sources, root);
      return root;
    }
    if (targets.positions.size() + sources.positions.size() > 0)
    {
      root.half_width = 0;
      for (int d = 0; d < Dim; ++d)
      {
        interval extent;
        extend(extent, targets.positions[d], targets.positions.size());
        extend(extent, sources.positions[d], sources.positions.size());
        // Halve first: the sum and the difference of two large numbers may overflow.
        root.centre[d] = extent.lower / 2 + extent.upper / 2;
        root.half_width = std::max(root.half_width, extent.upper / 2 - extent.lower / 2);
      }
      // All points at one place: any box around it will do.
      if (root.half_width == 0) root.half_width = 1;
    }
    require_valid(root);
    return root;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template std::string describe(named_positions<T, Dim> const&, std::size_t);                      \
  template void require_valid(named_positions<T, Dim> const&);                                     \
  template cube<Dim> choose_root(std::optional<cube<Dim>> const&, named_positions<T, Dim> const&,  \
                                 named_positions<T, Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
