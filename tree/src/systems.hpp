#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// \file
/// What is asked of the systems of a batch.

namespace nearfield::detail
{
  /// f(), whose errors name the system.
  template <class F>
  decltype(auto) in_system(std::size_t s, F const& f)
  {
    try
    {
      return f();
    }
    catch (error const& failure)
    {
      throw error("system " + std::to_string(s) + ": " + failure.what(), failure.kind(),
                  failure.code());
    }
  }

  inline void check_offsets(std::string const& function, char const* name,
                            std::span<index_type const> offsets, std::size_t n_points)
  {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != n_points)
      throw error(
          function + ": the " + name + " of the systems have to begin with 0 and end with " +
          std::to_string(n_points) + ", the number of points; found " +
          (offsets.empty()
               ? std::string("none")
               : std::to_string(offsets.front()) + " and " + std::to_string(offsets.back())));
    for (std::size_t s = 1; s < offsets.size(); ++s)
      if (offsets[s] < offsets[s - 1])
        throw error(function + ": the " + name + " of system " + std::to_string(s - 1) + " are " +
                    std::to_string(offsets[s - 1]) + " to " + std::to_string(offsets[s]) +
                    "; give ascending ones");
  }

  /// Throws nearfield::error unless the order has each of its indices once.
  inline void check_order(std::string const& function, char const* name,
                          std::span<index_type const> order)
  {
    std::vector<bool> seen(order.size());
    for (index_type const i : order)
    {
      if (i >= order.size() || seen[i])
        throw error(function + ": " + name + " has the index " + std::to_string(i) +
                    (i < order.size() ? " twice" : ", and there are fewer points") +
                    "; give each point once, as systems_of() does");
      seen[i] = true;
    }
  }

  /// Throws nearfield::error unless these are systems of so many points and, with two sets, queries.
  template <class T, int Dim>
  void check_systems(std::string const& function, systems<Dim> const& given,
                     cell_list_options<T, Dim> const& options, std::size_t n_points,
                     std::size_t n_queries, bool one_set)
  {
    check_offsets(function, "offsets", given.offsets, n_points);
    std::size_t const n = given.offsets.size() - 1;
    if (!one_set) check_offsets(function, "query_offsets", given.query_offsets, n_queries);
    if (given.query_offsets.size() != (one_set ? 0 : n + 1))
      throw error(function + ": found " + std::to_string(given.query_offsets.size()) +
                  " query_offsets; give " +
                  (one_set ? "none for one set of points"
                           : std::to_string(n + 1) + ", one more than systems"));
    auto const check_size = [&](char const* name, std::size_t found, std::size_t n_indices)
    {
      if (found != 0 && found != n_indices)
        throw error(function + ": " + name + " has " + std::to_string(found) + " indices of " +
                    std::to_string(n_indices) + " points; give all, or none");
    };
    check_size("order", given.order.size(), n_points);
    check_size("query_order", given.query_order.size(), one_set ? 0 : n_queries);
    auto const check = [&](char const* name, std::size_t found, bool may_be_none)
    {
      if (found != n && found != 1 && !(may_be_none && found == 0))
        throw error(function + ": found " + std::to_string(found) + " " + name + " for " +
                    std::to_string(n) + " systems; give one for each, or one for all");
    };
    check("cutoffs", given.cutoffs.size(), false);
    check("cells", given.cells.size(), true);
    if (options.cell.is_periodic() || options.period != decltype(options.period)())
      throw error(function +
                  ": the options of a list of systems have .cell or .period; give .cells "
                  "with the systems");
    for (std::size_t s = 0; s < given.cutoffs.size(); ++s)
      in_system(s, [&] { check_cell_options(static_cast<T>(given.cutoffs[s]), options); });
  }
}
