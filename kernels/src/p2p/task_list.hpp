#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/p2p/job.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// The sizes of a list. Part of the task's argument, since the worker may not be able to read the memory
  /// that holds the list.
  struct task_head
  {
    index_type n_targets = 0;
    index_type n_sources = 0;     ///< buffers of sources
    index_type target_buffer = 0; ///< index of the coordinate buffer that holds the targets
    index_type target_begin = 0;  ///< index of the first target in it
    index_type n_boxes = 0, n_ranges = 0, n_sets = 0, n_shifts = 0;
    // for GPUs, as in cuda_items
    index_type n_items = 0, n_wide = 0, n_medium = 0;
  };

  /// The list that one task of a step evaluates. It is registered as a data handle of its own.
  struct task_list
  {
    task_head head;
    std::vector<index_type> box_offsets{0}, range_offsets{0};
    std::vector<source_range> own, ranges;
    std::vector<source_set>
        sets; ///< in the buffers of the task; set 0: the group's own points; others: parts of the halo
    std::vector<cuda_item> items;
    std::span<std::array<double, 3> const> shifts; ///< must outlive it

    [[nodiscard]] boxes targets() const { return {box_offsets}; }
    [[nodiscard]] interaction_list list() const { return {own, range_offsets, ranges, shifts}; }

    /// Everything but the head in one block of memory. Sets the sizes in the head.
    [[nodiscard]] std::vector<std::byte> pack();
  };

  /// Pointers to the parts of a packed list. Only addresses are computed, so it may be in any memory.
  struct task_list_view : list_view
  {
    task_list_view() = default;
    NEARFIELD_API task_list_view(task_head const& head, void const* packed);

    source_set const* sets = nullptr;
    cuda_item const* items = nullptr;
  };
}
