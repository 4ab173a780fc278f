#pragma once

#include <nearfield/cuda/device_array.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// The scan and the sort of a search, through CUB; compiled once.

namespace nearfield::detail
{
  /// offsets[i] = counts[0] + ... + counts[i - 1], for i = 0 ... n.
  template <class Count>
  void scan_counts(Count const* counts, std::uint64_t* offsets, std::size_t n, cuda_stream stream);

  /// Sorts stably, with a value for each key if there are values. The arrays are swapped with sorted ones.
  void sort_keys(device_array<std::uint64_t>& keys, device_array<unsigned short>& values);
}
