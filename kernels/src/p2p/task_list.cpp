#include "task_list.hpp"

namespace nearfield::detail
{
  namespace
  {
    // Shifts come first, and all other parts have the alignment of 32-bit words, so they need no padding.
    static_assert(alignof(source_range) == 4 && alignof(source_set) == 4 &&
                  alignof(cuda_item) == 4);

    template <class Range>
    void append(std::vector<std::byte>& to, Range const& values)
    {
      if (values.empty()) return;
      auto const* const first = reinterpret_cast<std::byte const*>(values.data());
      to.insert(to.end(), first, first + values.size() * sizeof(values[0]));
    }

    template <class T>
    T const* take(std::byte const*& from, std::size_t n)
    {
      auto const* const first = reinterpret_cast<T const*>(from);
      from += n * sizeof(T);
      return first;
    }
  }

  std::vector<std::byte> task_list::pack()
  {
    head.n_boxes = static_cast<index_type>(own.size());
    head.n_ranges = static_cast<index_type>(ranges.size());
    head.n_sets = static_cast<index_type>(sets.size());
    head.n_items = static_cast<index_type>(items.size());
    head.n_shifts = static_cast<index_type>(shifts.size());
    std::vector<std::byte> packed;
    auto const bytes = [](auto const&... parts)
    {
      return ((parts.size() * sizeof(parts[0])) + ...);
    };
    packed.reserve(bytes(shifts, box_offsets, range_offsets, own, ranges, sets, items));
    append(packed, shifts);
    append(packed, box_offsets);
    append(packed, range_offsets);
    append(packed, own);
    append(packed, ranges);
    append(packed, sets);
    append(packed, items);
    return packed;
  }

  task_list_view::task_list_view(task_head const& head, void const* packed)
  {
    auto const* from = static_cast<std::byte const*>(packed);
    shifts = take<std::array<double, 3>>(from, head.n_shifts);
    box_offsets = take<index_type>(from, head.n_boxes + std::size_t(1));
    range_offsets = take<index_type>(from, head.n_boxes + std::size_t(1));
    own = take<source_range>(from, head.n_boxes);
    ranges = take<source_range>(from, head.n_ranges);
    sets = take<source_set>(from, head.n_sets);
    items = take<cuda_item>(from, head.n_items);
  }
}
