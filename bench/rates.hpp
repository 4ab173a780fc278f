#pragma once

#include "operations.hpp"
#include "peaks.hpp"

#include <benchmark/benchmark.h>

namespace bench
{
  /// Of the evaluations of `pairs` directed pairs in T, each for n_rhs right-hand sides. A mutual evaluation
  /// serves two.
  template <class K, class T>
  bound pair_bound(machine const& on, double pairs, bool mutual, int n_rhs = 1)
  {
    constexpr bool is_float = sizeof(T) == 4;
    operations const of_one = operations_of<K>(mutual, n_rhs);
    double const busy = of_one.products + (on.adds_too ? of_one.sums : 0) +
                        of_one.roots * (is_float ? on.root_f32 : on.root_f64);
    return {pairs / (mutual ? 2 : 1) * busy / (is_float ? on.f32 : on.f64), "fma"};
  }

  /// Reports directed pairs per second, flop/s from the interaction's flop count, and the share of the bound.
  template <class K>
  void report(benchmark::State& state, double pairs_per_iteration, bound const& least)
  {
    using benchmark::Counter;
    double const pairs = pairs_per_iteration * static_cast<double>(state.iterations());
    state.counters["pairs/s"] = Counter(pairs, Counter::kIsRate);
    state.counters["flop/s"] = Counter(pairs * static_cast<double>(K::flops), Counter::kIsRate);
    report_bound(state, least);
  }

  /// The same for K in T on `on`, by its pairs.
  template <class K, class T>
  void report(benchmark::State& state, double pairs_per_iteration, machine const& on, bool mutual)
  {
    report<K>(state, pairs_per_iteration, pair_bound<K, T>(on, pairs_per_iteration, mutual));
  }
}
