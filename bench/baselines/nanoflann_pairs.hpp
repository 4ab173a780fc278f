#pragma once

#include "half_search.hpp"

/// \file
/// Half pairs by nanoflann's k-d tree: one radius search a point, of which the neighbours of larger
/// index are kept, in the order of the tree's leaves. nanoflann finds full lists only, so every
/// pair is met twice.

namespace baseline
{
  /// Half pairs closer than `cutoff`, i < j, the tree's build included. Indices are the caller's.
  /// Memory that `pairs` holds is used again.
  template <class T>
  void find_nanoflann_pairs(point_columns<T> const& points, T cutoff, int leaf_size,
                            pair_columns& pairs);
}
