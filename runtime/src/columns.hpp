#pragma once

#include <nearfield/core/boxes.hpp>

#include <starpu.h>

#include <cstddef>

namespace nearfield::starpu::detail
{
  /// A vector buffer as columns of n points, one after the other.
  template <class T>
  struct columns
  {
    T* first = nullptr;
    index_type n = 0; ///< points

    columns() = default;
    columns(void* buffer, int n_columns)
        : first(reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffer))),
          n(static_cast<index_type>(STARPU_VECTOR_GET_NX(buffer)) /
            static_cast<index_type>(n_columns))
    {}

    [[nodiscard]] T* operator[](int column) const
    {
      return first + static_cast<std::size_t>(column) * n;
    }
  };
}
