#pragma once

#include "launch.cuh"

#include <cstdint>

namespace nearfield::detail
{
  /// The position of the first key that is not below `key`; keys are sorted.
  __device__ inline std::uint32_t lower_bound(std::uint64_t const* keys, std::uint32_t n,
                                              std::uint64_t key)
  {
    auto const* const values = reinterpret_cast<unsigned long long const*>(keys);
    return count_before(n, [&](std::uint32_t i) { return __ldg(values + i) < key; });
  }

  /// The position where the points of a cell start: from a table of all cells if there are few, otherwise by
  /// searching the keys of the points, so that memory is proportional to points.
  struct cell_starts
  {
    std::uint32_t const* table = nullptr;
    std::uint64_t const* keys = nullptr;
    std::uint32_t n = 0;

    /// The position of the first point in this cell or a later one.
    __device__ std::uint32_t first_of(std::uint64_t cell) const
    {
      return table ? table[cell] : lower_bound(keys, n, cell);
    }
  };
}
