#pragma once

#include <nearfield/core/boxes.hpp>

#include <cstdint>
#include <vector>

namespace nearfield::detail
{
  /// A point and the key of its box.
  struct keyed_point
  {
    std::uint64_t key;
    index_type index;
  };

  /// Sorts by the lowest key_bits bits of the keys, stably. The higher bits must be zero.
  void sort_by_key(std::vector<keyed_point>& points, int key_bits);
  /// The same with scratch memory passed in, for repeated sorting.
  void sort_by_key(std::vector<keyed_point>& points, std::vector<keyed_point>& scratch,
                   int key_bits);
}
