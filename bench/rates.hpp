#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bench
{
  /// Reports directed pairs per second, and flop/s from the interaction's flop count.
  template <class K>
  void report(benchmark::State& state, double pairs_per_iteration)
  {
    using benchmark::Counter;
    double const pairs = pairs_per_iteration * static_cast<double>(state.iterations());
    state.counters["pairs/s"] = Counter(pairs, Counter::kIsRate);
    state.counters["flop/s"] = Counter(pairs * static_cast<double>(K::flops), Counter::kIsRate);
  }
}
