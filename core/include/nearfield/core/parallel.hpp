#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

/// \file
/// Loops on the threads of an executor: in parts, or item by item; sums over the items before each; cuts by these sums;
/// columns brought into an order, and back. A column is what [i] reads or writes: a pointer, a strided column.

namespace nearfield::detail
{
  /// The calling thread.
  class this_thread final : public executor
  {
  public:
    [[nodiscard]] int workers() const override { return 1; }
    void run(int n, std::function<void(int)> const& f) override
    {
      for (int part = 0; part < n; ++part) f(part);
    }
  };

  /// The executor or, if it is null, the calling thread.
  NEARFIELD_API executor& threads_or_here(executor* on);

  /// How many parts may run at once: workers(), but at least one, and few enough to multiply.
  inline int workers_of(executor const& on)
  {
    return std::clamp(on.workers(), 1, 1 << 16);
  }

  /// How a loop over n items is cut: part p has the items [begin(p), begin(p + 1)).
  struct loop_parts
  {
    std::size_t n;
    int parts;

    [[nodiscard]] std::size_t begin(int part) const
    {
      return static_cast<std::size_t>(std::uint64_t(n) * static_cast<std::uint64_t>(part) /
                                      static_cast<std::uint64_t>(parts));
    }
  };

  /// One part for each worker (or several, where parts take unequal time), but never fewer than `least` items in a part
  /// unless there is only one.
  inline loop_parts cut(executor const& on, std::size_t n, std::size_t least = 1024,
                        int parts_per_worker = 1)
  {
    int const workers = workers_of(on);
    int const most = workers == 1 ? 1 : parts_per_worker * workers;
    return {
        n, static_cast<int>(std::clamp<std::size_t>(n / least, 1, static_cast<std::size_t>(most)))};
  }

  /// Calls f(part, begin, end) for each part.
  template <class F>
  void for_each_part(executor& on, loop_parts const& loop, F const& f)
  {
    auto const call = [&](int part)
    {
      f(part, loop.begin(part), loop.begin(part + 1));
    };
    if (loop.parts == 1)
      call(0);
    else
      on.run(loop.parts, call);
  }

  /// Calls f(i) for each i in [0, n). Items begin in ascending order, so an ordered consumer waits only for those in
  /// progress. Throws one of the exceptions; items not begun by then are left out.
  template <class F>
  void for_each_item(executor& on, std::size_t n, F const& f)
  {
    std::atomic<std::size_t> next = 0;
    auto const take = [&](int)
    {
      try
      {
        for (std::size_t i = next++; i < n; i = next++) f(i);
      }
      catch (...)
      {
        next = n;
        throw;
      }
    };
    on.run(static_cast<int>(std::min(n, static_cast<std::size_t>(workers_of(on)))), take);
  }

  /// sums[i] = value(0) + ... + value(i - 1), up to i = n for n + 1 sums. Values are integers, or add without rounding.
  template <class T, class Value>
  void sum_before(executor& on, std::span<T> sums, Value const& value)
  {
    loop_parts const loop = cut(on, sums.size() - 1);
    std::vector<T> before(static_cast<std::size_t>(loop.parts) + 1, T(0)); // the parts
    sums[0] = 0;
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    T sum = 0;
                    for (std::size_t i = begin; i < end; ++i) sums[i + 1] = sum += value(i);
                    before[static_cast<std::size_t>(part) + 1] = sum;
                  });
    if (loop.parts == 1) return;
    std::partial_sum(before.begin(), before.end(), before.begin());
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    T const sum = before[static_cast<std::size_t>(part)];
                    for (std::size_t i = begin; i < end; ++i) sums[i + 1] += sum;
                  });
  }

  /// Cuts the items from first.back() up to `end` into n parts with about equal sums, fewer if there are fewer items:
  /// adds the item after each part, `end` last. sums[i]: of the items before i.
  inline void cut_evenly(std::span<double const> sums, index_type end, std::size_t n,
                         std::vector<index_type>& first)
  {
    index_type const begin = first.back();
    if (begin == end) return;
    double const before = sums[begin], all = sums[end] - before;
    for (std::size_t p = 1; p < n; ++p)
    {
      double const share = before + all * (static_cast<double>(p) / static_cast<double>(n));
      auto const at =
          static_cast<index_type>(std::lower_bound(sums.begin(), sums.end(), share) - sums.begin());
      if (at > first.back() && at < end) first.push_back(at);
    }
    first.push_back(end);
  }

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
