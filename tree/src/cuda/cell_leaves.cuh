#pragma once

#include "segments.cuh"
#include "sorted_points.cuh"

#include <nearfield/core/boxes.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cstdint>

/// \file
/// Cells as the leaves of near fields. They do not depend on the type of points, so they are compiled once.

namespace nearfield::detail
{
  /// What kernels find of leaves.
  struct cell_leaves_report
  {
    std::uint32_t leaves;
    std::uint32_t leaves_of_size[32];  ///< as in device_leaves
    std::uint64_t ranges, half_ranges; ///< in the lists
  };

  /// The cells that hold targets, and the lists of cells that they meet, in the order of list_cells(). Those of a batch have
  /// many shifts (list_view).
  struct cell_leaves
  {
    device_array<index_type> offsets; ///< of the targets
    device_array<source_range> own;
    device_array<index_type> range_offsets, half_offsets; ///< half: empty for two sets
    device_array<source_range> ranges, half_ranges;
    device_array<cell_leaves_report> report;
    cell_leaves_report found{};
  };

  /// Makes the leaves, and waits once for the device. `cells` are those of the sources and what they are made of; it
  /// needs no items. `system_of_target`: of a batch, by position. Throws nearfield::error for 2^32 ranges or more.
  cell_leaves make_cell_leaves(sorted_points const& targets, device_cell_view const& cells,
                               std::uint32_t const* system_of_target, cuda_stream stream);
}
