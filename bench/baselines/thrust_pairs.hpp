#pragma once

#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <memory>

/// \file
/// The Thrust pair search on a GPU, in the steps of its page: bounds, a grid, sort_by_key, the ends of the
/// cells by an inclusive_scan of maxima, the number of candidates of each point in each of the lower cells
/// around it, their exclusive_scan, a list of all candidates with flags, and remove_if of those that are
/// not pairs. half_search.hpp lists the corrections. Indices are int, for speed; larger problems are
/// refused.

namespace baseline
{
  /// The source of a search's device memory.
  enum class device_memory
  {
    fresh, ///< cudaMalloc and cudaFree for every array, as on the page
    pooled ///< a pool that keeps freed memory, as if all buffers were left from the previous call
  };

  /// Half pairs in device memory.
  struct device_pairs
  {
    int const *i, *j; ///< by position in the order of cells, i > j
    std::size_t size;
    std::size_t peak_bytes;       ///< peak device memory of the search, without the points
    std::shared_ptr<void> memory; ///< owns i and j
  };

  /// Half pairs closer than `cutoff`. Sorts the points, in device memory, by cell; cells_per_cutoff is 1, 2
  /// or 3. Runs on the default stream and synchronizes to read totals.
  template <class T>
  device_pairs find_thrust_pairs(nearfield::soa<T, 3> const& points, T cutoff, int cells_per_cutoff,
                                 device_memory from = device_memory::fresh);
}
