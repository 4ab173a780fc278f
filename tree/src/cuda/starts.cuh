#pragma once

#include <cstdint>

namespace nearfield::detail
{
  /// The position of the first key that is not below `key`; keys are sorted.
  __device__ inline std::uint32_t lower_bound(std::uint64_t const* keys, std::uint32_t n,
                                              std::uint64_t key)
  {
    std::uint32_t begin = 0, count = n;
    while (count > 0)
    {
      std::uint32_t const half = count / 2;
      bool const below =
          __ldg(reinterpret_cast<unsigned long long const*>(keys) + begin + half) < key;
      begin = below ? begin + half + 1 : begin;
      count = below ? count - half - 1 : half;
    }
    return begin;
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
