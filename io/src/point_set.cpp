#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>

#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace nearfield
{
  namespace
  {
    void check_columns(std::vector<std::vector<double>> const& columns, std::size_t size,
                       char const* name, bool finite)
    {
      for (std::size_t c = 0; c < columns.size(); ++c)
      {
        auto const label = std::string("point_set.") + name + "[" + std::to_string(c) + "]";
        if (columns[c].size() != size)
          throw error(label + ": found " + std::to_string(columns[c].size()) +
                      " values, expected one for each of the " + std::to_string(size) + " points");
        if (!finite) continue;
        for (std::size_t i = 0; i < size; ++i)
          if (!std::isfinite(columns[c][i]))
            throw error(label + ": found " + detail::number_text(columns[c][i]) + " at point " +
                        std::to_string(i) + ", expected finite values");
      }
    }

    void check_names(std::vector<std::string> const& names, std::size_t n, char const* name)
    {
      if (!names.empty() && names.size() != n)
        throw error(std::string("point_set.") + name + ": found " + std::to_string(names.size()) +
                    " names, expected one for each of the " + std::to_string(n) +
                    " columns, or none");
    }

    void append(std::vector<std::string>& all, std::vector<std::string> const& names, std::size_t n,
                std::string const& fallback)
    {
      if (!names.empty())
        all.insert(all.end(), names.begin(), names.end());
      else if (n == 1)
        all.push_back(fallback);
      else
        for (std::size_t k = 1; k <= n; ++k) all.push_back(fallback + std::to_string(k));
    }
  }

  void check(point_set const& points)
  {
    if (points.dim != 2 && points.dim != 3)
      throw error("point_set.dim: found " + std::to_string(points.dim) + ", expected 2 or 3");
    if (points.positions.size() != static_cast<std::size_t>(points.dim))
      throw error("point_set.positions: found " + std::to_string(points.positions.size()) +
                  " columns, expected dim = " + std::to_string(points.dim));
    check_columns(points.positions, points.size(), "positions", true);
    if (!points.velocities.empty() && points.velocities.size() != points.positions.size())
      throw error("point_set.velocities: found " + std::to_string(points.velocities.size()) +
                  " columns, expected dim = " + std::to_string(points.dim) + ", or none");
    check_columns(points.velocities, points.size(), "velocities", true);
    if (!points.masses.empty()) check_columns({points.masses}, points.size(), "masses", true);
    check_columns(points.parameters, points.size(), "parameters", true);
    check_columns(points.inputs, points.size(), "inputs", true);
    check_columns(points.outputs, points.size(), "outputs", false);
    if (!points.parameters.empty())
      check_names(points.parameter_names, points.parameters.size(), "parameter_names");
    check_names(points.input_names, points.inputs.size(), "input_names");
    check_names(points.output_names, points.outputs.size(), "output_names");
    if (!points.types.empty() && points.types.size() != points.size())
      throw error("point_set.types: found " + std::to_string(points.types.size()) +
                  " values, expected one for each of the " + std::to_string(points.size()) +
                  " points, or none");
    for (auto const type : points.types)
      if (type >= points.type_names.size())
        throw error("point_set.types: found type " + std::to_string(type) + " of " +
                    std::to_string(points.type_names.size()) + " in type_names");
    if (!points.box) return;
    if (points.box->centre.size() != static_cast<std::size_t>(points.dim))
      throw error("point_set.box.centre: found " + std::to_string(points.box->centre.size()) +
                  " coordinates, expected dim = " + std::to_string(points.dim));
    for (double const c : points.box->centre)
      if (!std::isfinite(c))
        throw error("point_set.box.centre: found " + detail::number_text(c) +
                    ", expected finite coordinates");
    if (!(points.box->half_width > 0) || !std::isfinite(points.box->half_width))
      throw error("point_set.box.half_width: found " + detail::number_text(points.box->half_width) +
                  ", expected a positive finite length");
  }

  std::vector<std::string> column_names(point_set const& points)
  {
    std::vector<std::string> names{"x", "y"};
    if (points.dim == 3) names.push_back("z");
    for (std::size_t d = 0; d < points.velocities.size(); ++d)
      names.push_back(std::string("v") + "xyz"[d]);
    if (!points.masses.empty()) names.emplace_back("m");
    append(names, points.parameter_names, points.parameters.size(), "parameter");
    append(names, points.input_names, points.inputs.size(), "q");
    append(names, points.output_names, points.outputs.size(), "phi");
    return names;
  }

  std::optional<std::array<double, 3>> file_report::periodic_cell::lengths() const
  {
    double largest = 0;
    for (auto const& v : vectors)
      for (double const component : v) largest = std::max(largest, std::abs(component));
    std::array<double, 3> result{};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 3; ++d)
      {
        double const component = vectors[a][d];
        // other programs compute angles of 90 degrees, and find about 1e-16
        if (a != d && !(std::abs(component) <= 1e-12 * largest)) return std::nullopt;
        if (a == d && !(component >= 0)) return std::nullopt;
        if (a == d) result[a] = periodic && !(*periodic)[a] ? 0 : component;
      }
    return result;
  }

  nearfield::cell<3> file_report::periodic_cell::box() const
  {
    bool const is_along_axes = lengths().has_value();
    nearfield::cell<3> made{.origin = origin};
    for (std::size_t a = 0; a < 3; ++a)
    {
      made.periodic[a] = periodic ? (*periodic)[a] : vectors[a] != std::array<double, 3>();
      for (std::size_t d = 0; d < 3; ++d)
        if (a == d || !is_along_axes) made.vectors[a][d] = vectors[a][d];
    }
    return made;
  }
}
