#pragma once

#include <nearfield/core/boxes.hpp>

/// \file
/// The textbook CUDA P2P kernel, as a baseline: one thread per target, tiles of sources (x, y, z, q) in
/// shared memory, 1 / sqrt, and i != j by index. Columns are host arrays of device pointers; out is
/// overwritten. NOut is 1 for 1/r and 4 for 1/r with its gradient.

namespace baseline
{
  /// Leaves and their interaction list in device memory, as in nearfield::interaction_list.
  struct leaf_list
  {
    nearfield::index_type n_leaves;
    nearfield::index_type const* leaf_offsets;
    nearfield::interaction_list::range const* own;
    nearfield::index_type const* range_offsets;
    nearfield::interaction_list::range const* ranges;
  };

  /// One box with itself: blocks and tiles of 256.
  template <class T, int NOut>
  void classic_box(nearfield::index_type n, T const* const* x, T const* q, T* const* out);

  /// One block of `threads` threads per leaf, and tiles of `threads` sources. Only the leaf's own range is
  /// tested for i = j.
  template <class T, int NOut>
  void classic_leaves(leaf_list const& list, T const* const* x, T const* q, T* const* out,
                      int threads);
}
