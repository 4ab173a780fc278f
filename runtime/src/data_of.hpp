#pragma once

#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace nearfield::starpu::detail
{
  /// Of a value in data_of(), with its room.
  template <class V>
  inline constexpr double bytes_with_room = sizeof(V) * (1 + 1. / 32);

  /// No data for 0 values. There is room for up to 1/32 more, since StarPU keeps memory by its size, and after points
  /// have moved sizes are about the same. To allocate anew takes longer than a whole step.
  template <class V>
  handle data_of(std::size_t n)
  {
    if (n == 0) return {};
    std::size_t const unit = std::max<std::size_t>(1, std::bit_ceil(n) / 64);
    return handle::of_size<V>(n, (n + unit - 1) / unit * unit);
  }
  template <class V>
  handle list_of(std::span<V const> values)
  {
    if (values.empty()) return {};
    return handle::of(const_cast<V*>(values.data()), values.size());
  }
}
