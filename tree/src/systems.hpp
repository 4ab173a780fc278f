#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// \file
/// What is asked of the systems of a batch. `function` starts messages.

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
    catch (error const& of)
    {
      throw error("system " + std::to_string(s) + ": " + of.what(), of.kind(), of.code());
    }
  }

  inline void check_offsets(std::string const& function, char const* name,
                            std::span<index_type const> offsets)
  {
    std::string const which = function + ": ." + name;
    if (offsets.empty() || offsets[0] != 0)
      throw error(
          which +
          (offsets.empty() ? " has no numbers" : " begins at " + std::to_string(offsets[0])) +
          "; give the first point of each system, from 0, and last the number of points");
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      if (offsets[s + 1] < offsets[s])
        throw error(which + "[" + std::to_string(s + 1) + "] is " + std::to_string(offsets[s + 1]) +
                    " after " + std::to_string(offsets[s]) + "; give ascending numbers");
  }

  inline void check_order(executor& on, std::string const& function, char const* name,
                          std::span<index_type const> order, std::size_t n)
  {
    if (order.empty()) return;
    std::atomic<bool> is_whole = order.size() == n;
    std::vector<std::atomic<index_type>> place(is_whole ? n : 0);
    auto const check = [&](auto const& is_good)
    {
      if (is_whole)
        for_each_part(on, cut(on, n),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        while (begin < end && is_good(begin)) ++begin;
                        if (begin < end) is_whole = false;
                      });
    };
    check(
        [&](std::size_t k)
        {
          if (order[k] >= n) return false;
          place[order[k]].store(static_cast<index_type>(k), std::memory_order_relaxed);
          return true;
        });
    // of two that are equal, one has lost its place
    check([&](std::size_t k) { return place[order[k]].load(std::memory_order_relaxed) == k; });
    if (!is_whole)
      throw error(function + ": ." + name + " does not hold each of " + std::to_string(n) +
                  " points once; take it from systems_of()");
  }

  /// Throws nearfield::error for sizes that do not match, with one set or two, but for those of orders.
  template <int Dim>
  void check_systems(std::string const& function, systems<Dim> const& given, bool one_set)
  {
    check_offsets(function, "offsets", given.offsets);
    std::size_t const n = given.offsets.size() - 1;
    if (one_set && !(given.query_offsets.empty() && given.query_order.empty()))
      throw error(function + ": .query_offsets are given for one set; give queries and points");
    if (!one_set)
    {
      check_offsets(function, "query_offsets", given.query_offsets);
      if (given.query_offsets.size() - 1 != n)
        throw error(
            function + ": the queries have " + std::to_string(given.query_offsets.size() - 1) +
            " systems, and the points have " + std::to_string(n) + "; give the same number");
    }
    auto const check_number = [&](std::size_t found, bool may_be_none, char const* name)
    {
      if (found == 1 || found == n || (found == 0 && may_be_none)) return;
      throw error(function + ": ." + name + " has " + std::to_string(found) + " for " +
                  std::to_string(n) + " systems; give one, or one for each");
    };
    check_number(given.cutoffs.size(), false, "cutoffs");
    check_number(given.cells.size(), true, "cells");
  }

  /// Throws nearfield::error for boxes of moved points that do not match the systems.
  inline void check_boxes(std::string const& function, std::size_t n_boxes, std::size_t n_systems)
  {
    if (n_boxes > 1 && n_boxes != n_systems)
      throw error(function + ": found " + std::to_string(n_boxes) + " boxes for " +
                  std::to_string(n_systems) + " systems; give one for each, or one for all");
  }

  /// Whether the box of any system is periodic.
  template <class Systems>
  bool is_any_periodic(Systems const& systems)
  {
    return std::ranges::any_of(systems,
                               [](auto const& of)
                               {
                                 auto const& periodic = of.grid.frame.periodic;
                                 return std::ranges::find(periodic, true) != periodic.end();
                               });
  }

  /// Throws nearfield::error for options that systems cannot have.
  template <class T, int Dim>
  void check_no_box(std::string const& function, cell_list_options<T, Dim> const& options)
  {
    if (options.cell.is_periodic() || options.period != std::array<T, Dim>())
      throw error(function + ": .cell or .period is given for several systems; give .cells");
  }

  /// Throws nearfield::error for offsets that do not end at the number of points of a set.
  inline void check_last(std::string const& function, char const* name,
                         std::span<index_type const> offsets, std::size_t n)
  {
    if (offsets.back() != n)
      throw error(function + ": the systems have " + std::to_string(offsets.back()) + " of " +
                  std::to_string(n) + " " + name + "; give offsets that end at their number");
  }
}
