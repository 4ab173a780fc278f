#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>

/// \file
/// Lists on a GPU without excluded pairs, for the kernels of all sums.

namespace nearfield::detail
{
  /// Leaves in device memory as two lists of boxes without excluded pairs, as cut_job (kernels/src/p2p/excluded.cpp)
  /// makes them, whose sums are added.
  class excluded_lists
  {
  public:
    /// Made in the order of the stream; the host waits for their sizes. Rows are by the caller's index.
    excluded_lists(cuda_stream stream, device_leaves const& leaves, excluded_rows const& rows);

    /// Boxes of a few targets, and the sources that all of them meet.
    [[nodiscard]] device_leaves shared() const { return of(shared_, n_boxes_.data()); }
    /// A box for each target, and the other sources that it meets.
    [[nodiscard]] device_leaves single() const { return of(single_, n_boxes_.data() + 1); }

  private:
    struct list
    {
      index_type most_boxes = 0;
      device_array<index_type> box_offsets, range_offsets;
      device_array<source_range> ranges;
    };

    [[nodiscard]] device_leaves of(list const& from, index_type const* n_boxes) const;

    device_leaves const leaves_;
    list shared_, single_;
    device_array<index_type> n_boxes_; ///< of both
    device_array<source_range> own_;   ///< of the boxes of either: nothing
  };
}
