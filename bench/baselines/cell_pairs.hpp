#pragma once

#include "half_search.hpp"

/// \file
/// The single-core CPU form of the Thrust pair search: the same grid and half search, without a list of
/// candidate pairs. A row of cells contiguous in memory is one range, and each pair is appended to two
/// vectors.

namespace baseline
{
  /// Half pairs closer than `cutoff`. As on the page, the points are sorted by cell and indices refer to
  /// that order. The memory of `pairs` is reused; pass empty vectors to time what the page times.
  template <class T>
  void find_cell_pairs(point_columns<T>& points, T cutoff, int cells_per_cutoff,
                       pair_columns& pairs);
}
