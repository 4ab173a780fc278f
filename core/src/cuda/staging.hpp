#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace nearfield::detail
{
  /// A column in device memory, and what writes its values [first, first + n) to a piece of pinned memory, or reads
  /// them there. Several threads call it at once.
  struct staged_column
  {
    void* values = nullptr;
    std::size_t size = 0, value_bytes = 0;
    std::function<void(void* piece, std::size_t first, std::size_t n)> host;
    /// the host's values, if they follow one another there; null: they go through pieces even if they are pinned
    void* pinnable = nullptr;
  };

  /// The n values of a column in device memory, to upload from host memory.
  template <class V>
  staged_column column_from(V const* from, V* to, std::size_t n)
  {
    return {to, n, sizeof(V), [from](void* piece, std::size_t first, std::size_t some)
            { std::copy_n(from + first, some, static_cast<V*>(piece)); },
            const_cast<V*>(from)}; // only read
  }
  /// The first n values of a column, to download to host memory.
  template <class V>
  staged_column column_to(V* to, device_array<V> const& from, std::size_t n)
  {
    // only read
    return {const_cast<V*>(from.data()), n, sizeof(V),
            [to](void* piece, std::size_t first, std::size_t some)
            { std::copy_n(static_cast<V const*>(piece), some, to + first); }, to};
  }
  /// A column, to download to memory with a stride.
  template <class V>
  staged_column column_to(strided_column<V> const& to, device_array<V> const& from)
  {
    return {const_cast<V*>(from.data()), from.size(), sizeof(V),
            [to](void* piece, std::size_t first, std::size_t some)
            {
              for (std::size_t i = 0; i < some; ++i)
                to[first + i] = static_cast<V const*>(piece)[i];
            }};
  }

  /// Copies columns between any host memory and a GPU through a few pieces of pinned memory: threads fill or read some
  /// while others cross the bus. A copy from memory that is not pinned goes through one thread of the driver, and
  /// pinning the caller's memory takes longer than copying it; a column that the caller has pinned crosses as it is.
  class NEARFIELD_API staging
  {
  public:
    /// For the current device, and as many threads at once, but no more than fill the bus. Throws nearfield::error if
    /// pinned memory is missing, or if nearfield was built without CUDA.
    static std::unique_ptr<staging> make(int threads);
    virtual ~staging() = default;

    /// Host to device, when the work in `stream` is done; returns when the columns are there. Throws what `host`
    /// throws, and nearfield::error.
    virtual void upload(executor& on, std::span<staged_column const> columns,
                        cuda_stream stream) = 0;
    /// Device to host, likewise.
    virtual void download(executor& on, std::span<staged_column const> columns,
                          cuda_stream stream) = 0;
  };
}
