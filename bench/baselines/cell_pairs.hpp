#pragma once

#include "half_search.hpp"

/// \file
/// The single-core CPU form of the Thrust pair search: the same grid and half search, without a
/// list of potential pairs. Rows of cells that lie next to each other in memory are one range, and
/// each pair is pushed back to two vectors.

namespace baseline
{
  /// Half pairs closer than `cutoff`. As the page has it, the points are put into the order of
  /// their cells, and indices refer to that order. Memory that `pairs` holds is used again: give
  /// empty vectors for what the page times.
  template <class T>
  void find_cell_pairs(point_columns<T>& points, T cutoff, int cells_per_cutoff,
                       pair_columns& pairs);
}
