#include <nearfield/runtime/task_list.hpp>

#include <cstring>

namespace nearfield::detail
{
  namespace
  {
    // All parts consist of 32-bit words (source_range: two, and two halves), so they need no padding.
    static_assert(alignof(task_list_view::head) == 4 && alignof(source_range) == 4 &&
                  alignof(source_slot) == 4);

    template <class Range>
    void append(std::vector<std::byte>& to, Range const& values)
    {
      if (values.empty()) return;
      std::size_t const at = to.size(), bytes = values.size() * sizeof(values[0]);
      to.resize(at + bytes);
      std::memcpy(to.data() + at, values.data(), bytes);
    }

    template <class T>
    std::span<T const> take(std::byte const*& from, std::size_t n)
    {
      T const* const first = reinterpret_cast<T const*>(from);
      from += n * sizeof(T);
      return {first, n};
    }
  }

  std::vector<std::byte> task_list::pack() const
  {
    task_list_view::head const head{n_targets,
                                    n_sources,
                                    target_buffer,
                                    target_begin,
                                    static_cast<index_type>(own.size()),
                                    static_cast<index_type>(ranges.size()),
                                    static_cast<index_type>(slots.size())};
    std::vector<std::byte> packed;
    append(packed, std::span(&head, 1));
    append(packed, box_offsets);
    append(packed, range_offsets);
    append(packed, own);
    append(packed, ranges);
    append(packed, slots);
    return packed;
  }

  task_list_view::task_list_view(void const* packed)
  {
    auto const* from = static_cast<std::byte const*>(packed);
    head_ = take<head>(from, 1).data();
    box_offsets_ = take<index_type>(from, head_->n_boxes + std::size_t(1));
    range_offsets_ = take<index_type>(from, head_->n_boxes + std::size_t(1));
    own_ = take<source_range>(from, head_->n_boxes);
    ranges_ = take<source_range>(from, head_->n_ranges);
    slots_ = take<source_slot>(from, head_->n_slots);
  }
}
