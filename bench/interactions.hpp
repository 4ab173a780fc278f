#pragma once

#include "problem.hpp"

#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// Every built-in interaction by its name: what the programs for a core and for a GPU share. Lengths, which parameters
/// are, are the distance of neighbours.

namespace bench
{
  /// Columns whose number is known at run time, of equal values.
  template <class Column>
  struct run_time_columns
  {
    using pointer = decltype(std::declval<Column&>().data());

    std::vector<Column> columns;
    std::vector<pointer> pointers;

    template <class T>
    run_time_columns(int width, std::vector<T> const& each)
    {
      columns.reserve(static_cast<std::size_t>(width));
      for (int c = 0; c < width; ++c) pointers.push_back(columns.emplace_back(each).data());
    }
    run_time_columns(run_time_columns const&) = delete;
    run_time_columns& operator=(run_time_columns const&) = delete;
    [[nodiscard]] auto view() const
    {
      return nearfield::soa<std::remove_pointer_t<pointer>, nearfield::run_time_columns>(
          pointers, columns.front().size());
    }
  };

  /// The distance of neighbours.
  template <class T, int Dim>
  double spacing_of(problem<T, Dim> const& p)
  {
    return std::pow(double(p.size()), -1. / Dim);
  }

  /// An interaction of points at that distance.
  inline nearfield::any_interaction interaction_of(nearfield::interaction_info const& info,
                                                   double spacing)
  {
    std::vector<std::pair<std::string_view, double>> parameters;
    for (nearfield::parameter_info const& each : info.parameters)
      if (each.unit == "length")
        parameters.emplace_back(each.name, spacing);
      else if (each.unit == "1 / length")
        parameters.emplace_back(each.name, 1 / spacing);
    return {info.name, info.dim, parameters};
  }

  /// What calls take of a problem, with `Column`s where they run; so are the coordinates x.
  template <class Column, class T, int Dim>
  struct interaction_columns
  {
    run_time_columns<Column> parameters, q, out;
    std::vector<T const*> x; ///< coordinates, then parameters

    interaction_columns(nearfield::interaction_info const& info, problem<T, Dim> const& p,
                        nearfield::soa<T const, Dim> const& coordinates)
        : parameters(static_cast<int>(info.point_parameters.size()),
                     std::vector<T>(p.size(), static_cast<T>(spacing_of(p)))),
          q(info.n_in, p.q()), out(info.n_out, std::vector<T>(p.size())),
          x(coordinates.data(), coordinates.data() + Dim)
    {
      x.insert(x.end(), parameters.pointers.begin(), parameters.pointers.end());
    }
    [[nodiscard]] nearfield::soa<T const, nearfield::run_time_columns> points() const
    {
      return {x, q.columns.front().size()};
    }
  };

  /// The largest error of these outputs at some targets, whose terms are summed in long double, relative to the sum of
  /// their magnitudes.
  template <class T, int Dim>
  double error_of(nearfield::any_interaction const& k, problem<T, Dim> const& p,
                  std::vector<std::vector<T>> const& found)
  {
    using wide = long double;
    auto const n_in = static_cast<std::size_t>(k.info().n_in), n_out = found.size();
    std::vector<wide> const of_points(k.info().point_parameters.size(),
                                      wide(static_cast<T>(spacing_of(p))));
    std::vector<wide> entries(n_in * n_out);
    auto const x = p.positions();
    double largest = 0;
    for (std::size_t s = 0; s < n_samples; ++s)
    {
      std::size_t const i = sample(s, p.size());
      std::vector<wide> sums(n_out), magnitudes(n_out);
      p.for_sources(i,
                    [&](std::size_t j)
                    {
                      wide r[Dim];
                      for (int d = 0; d < Dim; ++d) r[d] = wide(x[d][i]) - x[d][j];
                      if (std::ranges::all_of(r, [](wide c) { return c == 0; })) return;
                      k.erased().type->matrix(k.erased().value, r, of_points.data(),
                                              of_points.data(), entries.data());
                      for (std::size_t e = 0; e < entries.size(); ++e)
                      {
                        wide const term = entries[e] * p.q()[j];
                        sums[e / n_in] += term;
                        magnitudes[e / n_in] += std::abs(term);
                      }
                    });
      for (std::size_t o = 0; o < n_out; ++o)
      {
        double const difference = double(std::abs(found[o][i] - sums[o]));
        double const relative = difference == 0 ? 0 : difference / double(magnitudes[o]);
        largest = std::isnan(relative) ? relative : std::max(largest, relative);
      }
    }
    return largest;
  }

  /// Calls row(number, form, name of the row) for each interaction of a dimension and each of its forms, or for the one
  /// of that name.
  template <class T, int Dim, class Row>
  void for_each_interaction(description const& d, std::string_view name, Row const& row)
  {
    auto const infos = nearfield::interaction_infos();
    for (std::size_t i = 0; i < infos.size(); ++i)
      for (auto const form : {nearfield::pair_form::one_sided, nearfield::pair_form::mutual})
      {
        nearfield::interaction_info const& info = infos[i];
        bool const is_mutual = form == nearfield::pair_form::mutual;
        if (info.dim != Dim || !info.is_built || (is_mutual && !info.has_mutual)) continue;
        if (!name.empty() && info.name != name) continue;
        row(static_cast<int>(i), form,
            "interactions/" + std::string(info.name) + "_" + std::to_string(Dim) + "d/" +
                precision_name<T> + "/" + name_of(d.shape) + "/" + std::to_string(d.size) + "/" +
                (is_mutual ? "mutual" : "one_sided"));
      }
  }
}
