#pragma once

#include <nearfield/cuda/device_array.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// The scan and the sort of a search, through CUB; compiled once.

namespace nearfield::detail
{
  /// offsets[i] = counts[0] + ... + counts[i - 1], for i = 0 ... n.
  void scan_counts(std::uint32_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream);
  void scan_counts(std::uint64_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream);

  /// Sorts by the lowest `bits` bits of the keys. The array is swapped with a sorted one.
  void sort_keys(device_array<std::uint64_t>& keys, int bits);
}
