#pragma once

#include "clouds.hpp"
#include "run.hpp"
#include "search_clouds.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>

namespace bench
{
  /// prefix/cloud/seed/precision: what rows begin with that find the same pairs.
  template <class T>
  std::string search_name(char const* prefix, search_case const& c, int seed)
  {
    return std::string(prefix) + "/" + c.name + "/" + std::to_string(seed) + "/" +
           precision_name<T>;
  }

  /// Half pairs a second, and the number of half pairs: a row that finds another number than the
  /// rows of its cloud before it is an error.
  inline void report_half_pairs(benchmark::State& state, std::string const& name,
                                std::uint64_t half_pairs)
  {
    using benchmark::Counter;
    static std::map<std::string, std::uint64_t> known;
    state.counters["half_pairs"] = static_cast<double>(half_pairs);
    state.counters["half_pairs/s"] =
        Counter(static_cast<double>(half_pairs) * static_cast<double>(state.iterations()),
                Counter::kIsRate);
    std::uint64_t const expected = known.try_emplace(name, half_pairs).first->second;
    if (half_pairs != expected)
      fail(state, "found " + std::to_string(half_pairs) + " half pairs, where another row found " +
                      std::to_string(expected));
  }
}
