#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

/// \file
/// Columns brought into an order, and back. A column is what [i] reads or writes: a pointer, a strided column.

namespace nearfield::detail
{
  struct assign
  {
    void operator()(auto& to, auto const& from) const { to = from; }
  };
  struct add
  {
    void operator()(auto& to, auto const& from) const { to += from; }
  };

  /// put(to[order[i]], from[first + i]) for each i. Stores retire in order, so each miss would hold up the next: where places
  /// lie far apart, their lines are prefetched, a block of values at a time.
  template <class From, class To, class Put = assign>
  void put_in_order(std::span<index_type const> order, From const& from, To const& to,
                    Put const& put = {}, std::size_t first = 0)
  {
    constexpr std::size_t block = 64, ahead = 2 * block;
    constexpr index_type far = 1 << 15; // nearer ones are in the cache anyway
    std::size_t i = 0;
    for (; i + ahead + block <= order.size(); i += block)
    {
      auto const [least, greatest] = std::minmax(order[i + ahead], order[i + ahead + block - 1]);
      bool const is_far = greatest - least > far;
      for (std::size_t k = i; k < i + block; ++k)
      {
        if (is_far) __builtin_prefetch(std::addressof(to[order[k + ahead]]), 1);
        put(to[order[k]], from[first + k]);
      }
    }
    for (; i < order.size(); ++i) put(to[order[i]], from[first + i]);
  }

  /// put(to[first + i], from[order[i]]) for each i. Loads need no prefetching: they overtake each other.
  template <class From, class To, class Put = assign>
  void take_in_order(std::span<index_type const> order, From const& from, To const& to,
                     Put const& put = {}, std::size_t first = 0)
  {
    for (std::size_t i = 0; i < order.size(); ++i) put(to[first + i], from[order[i]]);
  }

  /// put(to[c][i], from[c][order[i]]) for each i and each of n columns, on the threads.
  template <class From, class To, class Put = assign>
  void gather_columns(executor& on, std::span<index_type const> order, int n, From const& from,
                      To const& to, Put const& put = {})
  {
    for_each_part(on, cut(on, order.size(), std::size_t(1) << 14, 4),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (int c = 0; c < n; ++c)
                      take_in_order(order.subspan(begin, end - begin), from[c], to[c], put, begin);
                  });
  }

  /// put(to[c][order[i]], from[c][i]) for each i and each of n columns, on the threads. Places are different ones.
  template <class From, class To, class Put = assign>
  void scatter_columns(executor& on, std::span<index_type const> order, int n, From const& from,
                       To const& to, Put const& put = {})
  {
    for_each_part(on, cut(on, order.size(), std::size_t(1) << 14, 4),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (int c = 0; c < n; ++c)
                      put_in_order(order.subspan(begin, end - begin), from[c], to[c], put, begin);
                  });
  }
}
