#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <limits>
#include <string>

/// \file
/// The checks of p2p/check.hpp for the columns of a step, whose number is known only at run time.

namespace nearfield::starpu::detail
{
  /// Throws nearfield::error unless there are `expected` points, fewer than 2^32, and no null column.
  template <class T>
  void check_columns(std::string const& argument, column_list<T> const& list, std::size_t expected)
  {
    std::string const points =
        "near_field: " + argument + " has " + std::to_string(list.n) + " points";
    if (list.n != expected)
      throw error(points + ", expected " + std::to_string(expected) + "; give one value per point");
    if (list.n > std::numeric_limits<index_type>::max())
      throw error(points + "; split the set, one has fewer than 2^32");
    for (std::size_t c = 0; c < list.columns.size(); ++c)
      if (list.n > 0 && list.columns[c] == nullptr)
        throw error("near_field: " + argument + ": column " + std::to_string(c) +
                    " is null; give a column of " + std::to_string(list.n) + " values");
  }

  /// Throws nearfield::error if an output column shares memory with a column of `other`.
  template <class T, class U>
  void check_apart(column_list<T> const& out, char const* argument, column_list<U> const& other)
  {
    for (std::size_t c = 0; c < out.columns.size(); ++c)
      for (std::size_t o = 0; o < other.columns.size(); ++o)
        if (nearfield::detail::overlap(out.columns[c], out.n, other.columns[o], other.n))
          throw error("near_field: output column " + std::to_string(c) + " overlaps column " +
                      std::to_string(o) + " of " + argument + "; give outputs memory of their own");
  }

  /// Throws nearfield::error if two output columns share memory.
  template <class T>
  void check_columns_apart(column_list<T> const& out)
  {
    for (std::size_t c = 0; c < out.columns.size(); ++c)
      for (std::size_t o = c + 1; o < out.columns.size(); ++o)
        if (nearfield::detail::overlap(out.columns[c], out.n, out.columns[o], out.n))
          throw error("near_field: output columns " + std::to_string(c) + " and " +
                      std::to_string(o) + " overlap; give outputs memory of their own");
  }

  /// Throws nearfield::error if the columns of a step do not match the tree, or overlap.
  template <class T>
  void check_arguments(leaf_groups_view const& groups, step_columns<T> const& columns)
  {
    if (groups.has_one_set != columns.has_one_set)
      throw error(std::string("near_field: the tree has ") +
                  (groups.has_one_set ? "one set of points, the step is given two"
                                      : "two sets of points, the step is given one") +
                  "; build the tree from the same views");
    column_list<T const> const &x = columns.x, &y = columns.y, &q = columns.q;
    std::size_t const n_sources = columns.has_one_set ? x.n : groups.source_order.size();
    check_columns("x", x, groups.target_order.size());
    if (!columns.has_one_set) check_columns("y", y, n_sources);
    check_columns("q", q, n_sources);
    check_columns("out", columns.out, x.n);
    check_apart(columns.out, "x", x);
    if (!columns.has_one_set) check_apart(columns.out, "y", y);
    check_apart(columns.out, "q", q);
    check_columns_apart(columns.out);
  }
}
