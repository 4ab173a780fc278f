#pragma once

#include "clouds.hpp"
#include "peaks.hpp"
#include "run.hpp"
#include "search_clouds.hpp"
#include "search_kinds.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>

namespace bench
{
  /// prefix/cloud/seed/precision: the start of the names of rows that must find the same pairs.
  template <class T>
  std::string search_name(char const* prefix, search_case const& c, int seed)
  {
    return std::string(prefix) + "/" + c.name + "/" + std::to_string(seed) + "/" +
           precision_name<T>;
  }

  /// The bound of any search: the points are read once, and the result is written once.
  template <class T>
  bound search_bound(machine const& on, int dim, std::size_t n_points, double result_bytes)
  {
    return memory_bound(on, double(n_points) * dim * sizeof(T) + result_bytes);
  }

  /// prefix/kind/precision: the same for search_kinds.
  template <class T>
  std::string kind_name(char const* prefix, search_kind const& kind)
  {
    return std::string(prefix) + "/" + kind.name + "/" + precision_name<T>;
  }

  /// Reports the number of pairs as `counter`, and pairs per second. A row that finds another number than
  /// earlier rows of the same `name` is an error.
  inline void report_pairs(benchmark::State& state, std::string const& name, std::uint64_t pairs,
                           std::string const& counter = "pairs")
  {
    using benchmark::Counter;
    static std::map<std::string, std::uint64_t> known;
    state.counters[counter] = static_cast<double>(pairs);
    state.counters[counter + "/s"] = Counter(
        static_cast<double>(pairs) * static_cast<double>(state.iterations()), Counter::kIsRate);
    std::uint64_t const expected = known.try_emplace(name, pairs).first->second;
    if (pairs != expected)
      fail(state, "found " + std::to_string(pairs) + " pairs, where another row found " +
                      std::to_string(expected));
  }
  inline void report_half_pairs(benchmark::State& state, std::string const& name,
                                std::uint64_t half_pairs)
  {
    report_pairs(state, name, half_pairs, "half_pairs");
  }
}
