#pragma once

#include "half_search.hpp"

/// \file
/// Half pairs by nanoflann's k-d tree: one radius search per point, in the order of the tree's leaves,
/// which keeps the neighbours of larger index. nanoflann only finds full lists, so each pair is found
/// twice.

namespace baseline
{
  /// Builds the tree and finds the half pairs i < j closer than `cutoff`, with the caller's indices. The
  /// memory of `pairs` is reused.
  template <class T>
  void find_nanoflann_pairs(point_columns<T> const& points, T cutoff, int leaf_size,
                            pair_columns& pairs);
}
