#pragma once

#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <memory>

/// \file
/// The Thrust pair search on a GPU, in the steps that its page describes: bounds, a grid,
/// sort_by_key, where each cell ends by an inclusive_scan of maxima, a number of candidates for
/// each point and each of the lower cells around it, their exclusive_scan, a list of all candidates
/// with a flag each, and remove_if of those that are no pairs. half_search.hpp says what is mended.
/// Its indices stay int, for speed; where they do not reach, it refuses.

namespace baseline
{
  /// Where a search takes its device memory from.
  enum class device_memory
  {
    fresh, ///< cudaMalloc and cudaFree for every array, as the page has it
    pooled ///< a pool that keeps what is freed: as if every buffer were there from the call before
  };

  /// Half pairs in device memory.
  struct device_pairs
  {
    int const *i, *j; ///< by position in the order of cells, i > j
    std::size_t size;
    std::size_t peak_bytes; ///< of device memory that the search held at a time, points not counted
    std::shared_ptr<void> memory; ///< keeps i and j
  };

  /// Half pairs closer than `cutoff`, of points in device memory, which are put into the order of
  /// their cells; cells_per_cutoff is 1, 2 or 3. Runs on the default stream, and waits for totals
  /// on the way.
  template <class T>
  device_pairs find_thrust_pairs(nearfield::soa<T, 3> const& points, T cutoff, int cells_per_cutoff,
                                 device_memory from = device_memory::fresh);
}
