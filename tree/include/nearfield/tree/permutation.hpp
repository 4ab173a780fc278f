#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield
{
  namespace detail
  {
    inline void require_size(char const* where, char const* what, std::size_t found,
                             std::size_t expected)
    {
      if (found != expected)
        throw error(std::string(where) + ": " + what + " has " + std::to_string(found) +
                    " values, order has " + std::to_string(expected) +
                    "; give one value per point");
    }
  }

  /// to[i] = from[order[i]]: from the original order into tree order. `to` has order.size() values.
  /// Throws nearfield::error if the sizes differ.
  template <std::ranges::contiguous_range From, std::ranges::contiguous_range To>
  void gather(std::span<index_type const> order, From const& from, To&& to)
  {
    detail::require_size("gather", "from", std::ranges::size(from), order.size());
    detail::require_size("gather", "to", std::ranges::size(to), order.size());
    detail::take_in_order(order, std::ranges::data(from), std::ranges::data(to));
  }

  /// The column in tree order, as a new vector.
  template <std::ranges::contiguous_range From>
  [[nodiscard]] auto gather(std::span<index_type const> order, From const& from)
  {
    std::vector<std::ranges::range_value_t<From>> result(order.size());
    gather(order, from, result);
    return result;
  }

  /// All columns in tree order, as new vectors, whose number is that of the type: gather run_time_columns one by one.
  template <detail::columns_view From>
    requires(From::n_columns != run_time_columns)
  [[nodiscard]] auto gather(std::span<index_type const> order, From const& from)
  {
    detail::require_size("gather", "from", from.size(), order.size());
    column_set<detail::value_of<From>, From::n_columns> result;
    for (int c = 0; c < From::n_columns; ++c)
    {
      result.columns[c].resize(order.size());
      detail::take_in_order(order, from[c], result.columns[c].data());
    }
    return result;
  }

  /// to[order[i]] = from[i]: from tree order back into the original order. Throws
  /// nearfield::error if the sizes differ.
  template <std::ranges::contiguous_range From, std::ranges::contiguous_range To>
  void scatter(std::span<index_type const> order, From const& from, To&& to)
  {
    detail::require_size("scatter", "from", std::ranges::size(from), order.size());
    detail::require_size("scatter", "to", std::ranges::size(to), order.size());
    detail::put_in_order(order, std::ranges::data(from), std::ranges::data(to));
  }

  /// All columns: to[c][order[i]] = from[c][i]. Throws nearfield::error if the sizes or the numbers of columns
  /// differ; the latter does not compile where both are known.
  template <detail::columns_view From, detail::columns_view To>
    requires(From::n_columns == To::n_columns || From::n_columns == run_time_columns ||
             To::n_columns == run_time_columns) //
  void scatter(std::span<index_type const> order, From const& from, To const& to)
  {
    detail::require_size("scatter", "from", from.size(), order.size());
    detail::require_size("scatter", "to", to.size(), order.size());
    int const width = detail::width_of(from);
    if (detail::width_of(to) != width)
      throw error("scatter: from has " + std::to_string(width) + " columns, to has " +
                  std::to_string(detail::width_of(to)) + "; give as many");
    for (int c = 0; c < width; ++c) detail::put_in_order(order, from[c], to[c]);
  }

  /// The position of each point in tree order, by its original index: inverse(order)[order[i]] = i.
  [[nodiscard]] inline std::vector<index_type> inverse(std::span<index_type const> order)
  {
    std::vector<index_type> result(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<index_type>(i);
    return result;
  }
}
