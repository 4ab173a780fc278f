#pragma once

#include <nearfield/core/boxes.hpp>

/// \file
/// The P2P kernel that CUDA courses teach, to compare with: one thread a target, the sources in tiles of
/// four values each in shared memory, 1 / sqrt, and i != j by index. Columns are host arrays of device
/// pointers; out is written, not added to. NOut is 1 for 1/r and 4 for 1/r with its gradient.

namespace baseline
{
  /// Leaves and whom they meet, in device memory; as nearfield::interaction_list.
  struct leaf_list
  {
    nearfield::index_type n_leaves;
    nearfield::index_type const* leaf_offsets;
    nearfield::source_range const* own;
    nearfield::index_type const* range_offsets;
    nearfield::source_range const* ranges;
  };

  /// One box with itself: blocks and tiles of 256.
  template <class T, int NOut>
  void classic_box(nearfield::index_type n, T const* const* x, T const* q, T* const* out);

  /// A block of so many threads for each leaf, and tiles of as many sources. Only the leaf's own range
  /// looks for i = j.
  template <class T, int NOut>
  void classic_leaves(leaf_list const& list, T const* const* x, T const* q, T* const* out,
                      int threads);
}
