#pragma once

#include <nearfield/core/boxes.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// Source points that follow each other in one buffer of a task; the ranges of its list count in them.
  struct source_slot
  {
    index_type buffer = 0; ///< which of the task's source buffers
    index_type begin = 0;  ///< where in it
    index_type halo = 0; ///< where in the halo the sums of these sources start; slot 0: own output
  };

  /// What one task of a step computes, as numbers: it travels as a data handle of its own.
  struct task_list
  {
    index_type n_targets = 0;
    index_type n_sources = 0;     ///< buffers of sources
    index_type target_buffer = 0; ///< which coordinate buffer holds the targets
    index_type target_begin = 0;  ///< where in it
    std::vector<index_type> box_offsets{0}, range_offsets{0};
    std::vector<source_range> own, ranges;
    std::vector<source_slot> slots;

    /// All of it, in one piece of memory.
    [[nodiscard]] std::vector<std::byte> pack() const;
  };

  /// A packed list.
  class task_list_view
  {
  public:
    explicit task_list_view(void const* packed);

    struct head
    {
      index_type n_targets, n_sources, target_buffer, target_begin;
      index_type n_boxes, n_ranges, n_slots;
    };

    [[nodiscard]] head const& sizes() const { return *head_; }
    [[nodiscard]] std::span<index_type const> box_offsets() const { return box_offsets_; }
    [[nodiscard]] std::span<index_type const> range_offsets() const { return range_offsets_; }
    [[nodiscard]] std::span<source_range const> own() const { return own_; }
    [[nodiscard]] std::span<source_range const> ranges() const { return ranges_; }
    [[nodiscard]] std::span<source_slot const> slots() const { return slots_; }

  private:
    head const* head_;
    std::span<index_type const> box_offsets_, range_offsets_;
    std::span<source_range const> own_, ranges_;
    std::span<source_slot const> slots_;
  };
}
