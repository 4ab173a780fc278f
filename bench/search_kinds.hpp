#pragma once

#include "search_clouds.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace bench
{
  /// Searches other than of one set in an open box in three dimensions: uniform points, each with about 110
  /// neighbours. Half lists for one set, full lists for two.
  struct search_kind
  {
    char const* name;
    int dim;
    bool periodic;
    bool two_sets;
  };
  inline constexpr search_kind search_kinds[] = {{"periodic", 3, true, false},
                                                 {"two_dimensions", 2, false, false},
                                                 {"two_sets", 3, false, true}};

  template <class T, int Dim>
  struct kind_input
  {
    nearfield::soa<T const, Dim> queries; ///< for one set, the points
    nearfield::soa<T const, Dim> points;
    T cutoff;
    nearfield::cell_list_options<T, Dim> options;

    kind_input(search_kind const& kind, std::size_t n)
    {
      search_case const c{"search_kinds", search_shape::uniform, n, 0, 2};
      points = search_cloud_of<T>(c, 1).template view<Dim>();
      queries = kind.two_sets ? search_cloud_of<T>(c, 2).template view<Dim>() : points;
      double const of_unit_ball = Dim == 3 ? 4 * std::numbers::pi / 3 : std::numbers::pi;
      cutoff = static_cast<T>(std::pow(110 / of_unit_ball / static_cast<double>(n), 1. / Dim));
      // a coordinate below 1 may round to 1 in float
      if (kind.periodic) options.period.fill(1 + std::numeric_limits<T>::epsilon());
    }
  };

  /// Calls f(kind, what, output) for a list and a count of every kind, which must find the same pairs.
  template <class F>
  void for_each_kind(F const& f)
  {
    using namespace nearfield;
    for (search_kind const& kind : search_kinds)
    {
      pairs const which = kind.two_sets ? pairs::full : pairs::half;
      f(kind, to_csr{.which = which}, kind.two_sets ? "full_csr" : "half_csr");
      f(kind, count_pairs{.which = which}, "count");
    }
  }

  /// The number of pairs of a result, on a CPU or a GPU.
  std::uint64_t n_pairs(auto const& result)
  {
    if constexpr (requires { result.columns; })
      return result.columns.size();
    else
      return result.total;
  }

  /// What it must write for its pairs.
  double result_bytes(auto const& result)
  {
    if constexpr (requires { result.columns; })
      return double(result.columns.size() * sizeof(result.columns.data()[0]));
    else
      return 0;
  }
}
