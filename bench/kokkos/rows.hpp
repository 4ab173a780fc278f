#pragma once

#include "clouds.hpp"
#include "rates.hpp"
#include "strategies.hpp"
#include "sums.hpp"

#include <nearfield/kernels/builtin.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

/// \file
/// What the rows of the strategies share on the CPU and on a GPU: points, the reference, and the best sizes of a team.

namespace bench
{
  /// Columns [first, first + n) of `all`.
  template <class T, int N>
  nearfield::soa<T, N> part(nearfield::soa<T, N> const& all, std::size_t first, std::size_t n)
  {
    std::array<T*, N> columns;
    for (int c = 0; c < N; ++c) columns[c] = all[c] + first;
    return {columns, n};
  }

  /// n targets, which are the sources too (inner), or n others are (outer).
  template <class T, int Dim>
  class two_sets
  {
  public:
    using kernel = nearfield::one_over_r<Dim>;

    two_sets(std::size_t n, bool inner) : points_(inner ? n : 2 * n), n_(n), inner_(inner) {}

    [[nodiscard]] std::size_t size() const { return n_; }
    [[nodiscard]] bool inner() const { return inner_; }
    [[nodiscard]] auto targets() const { return part(points_.positions(), 0, n_); }
    [[nodiscard]] auto sources() const { return part(points_.positions(), inner_ ? 0 : n_, n_); }
    [[nodiscard]] auto q() const { return part(points_.charges(), inner_ ? 0 : n_, n_); }
    [[nodiscard]] double pairs() const
    {
      auto const n = static_cast<double>(n_);
      return inner_ ? n * (n - 1) : n * n;
    }

    template <baseline::math Math>
    [[nodiscard]] auto on_kokkos(int threads) const
    {
      return std::make_unique<baseline::kokkos_sum<T, Dim, Math>>(
          n_, targets().data(), n_, sources().data(), q()[0], inner_, threads);
    }

    /// Reports rates and the share of the bound, and compares the outputs; found(o, i) is output o of target i. A
    /// strategy may add all terms to one sum, whose rounding error grows with their number.
    template <class Found>
    void report(benchmark::State& state, machine const& on, bool mutual, Found const& found) const
    {
      bench::report<kernel, T>(state, pairs(), on, mutual);
      check_sums(
          state, tolerance<T>(50 + double(n_) / 64), n_,
          [&](std::size_t i)
          {
            plain_sum<kernel> sum;
            sum.add(kernel{}, point(targets(), i), inner_ ? i : no_self, sources(), q(),
                    {0, static_cast<nearfield::index_type>(n_)});
            return sum;
          },
          found);
    }

  private:
    cloud<T, Dim> points_;
    std::size_t n_;
    bool inner_;
  };

  /// A shape and the seconds that it took.
  using timed_shape = std::pair<double, baseline::team_shape>;

  /// Times each of `shapes`, the better of two runs after a first one, and sorts them.
  template <class Sum, class Seconds>
  std::vector<timed_shape> sweep(Sum& sum, baseline::strategy s,
                                 std::vector<baseline::team_shape> const& shapes,
                                 Seconds const& seconds_of)
  {
    std::vector<timed_shape> times;
    for (auto const& shape : shapes)
    {
      auto const call = [&]
      {
        sum.run(s, shape);
      };
      seconds_of(call);
      times.emplace_back(std::min(seconds_of(call), seconds_of(call)), shape);
    }
    std::ranges::sort(times, {}, &timed_shape::first);
    return times;
  }

  /// The best shape of a team for this strategy and this many points and threads. Up to `n_swept` points all are
  /// timed on the row's own points. For more, all on n_swept points, and then, if `again`, those within three times of
  /// the best on the row's own.
  template <class T, int Dim, baseline::math Math, class Seconds>
  timed_shape best_shape(baseline::strategy s, two_sets<T, Dim> const& points, int threads,
                         std::size_t n_swept, bool again, Seconds const& seconds_of)
  {
    static std::map<std::tuple<baseline::strategy, std::size_t, int>, timed_shape> known;
    auto const [at, fresh] = known.try_emplace({s, points.size(), threads});
    if (!fresh) return at->second;

    two_sets<T, Dim> const few(std::min(points.size(), n_swept), true);
    auto const sum = few.template on_kokkos<Math>(threads);
    auto times = sweep(*sum, s, sum->shapes(s), seconds_of);
    if (again && points.size() > few.size() && times.size() > 1)
    {
      std::vector<baseline::team_shape> shapes;
      for (auto const& [seconds, shape] : times)
        if (seconds < 3 * times[0].first) shapes.push_back(shape);
      times = sweep(*points.template on_kokkos<Math>(threads), s, shapes, seconds_of);
    }
    return at->second = times.at(0);
  }

  /// The sizes of the row's teams.
  inline void report(benchmark::State& state, baseline::team_shape const& shape)
  {
    if (shape.team == 0) return;
    state.counters["team"] = shape.team;
    state.counters["lanes"] = shape.lanes;
    if (shape.chunk != 0) state.counters["chunk"] = shape.chunk;
  }
}
