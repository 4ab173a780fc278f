#pragma once

#include <nearfield/core/api.hpp>

namespace nearfield::detail
{
  /// A stretch of the calling thread's time, under that name on the time line of NVIDIA's profilers (NVTX);
  /// nothing where this library was built without CUDA.
  class NEARFIELD_API range
  {
  public:
    explicit range(char const* name) noexcept;
    range(range const&) = delete;
    range& operator=(range const&) = delete;
    ~range();
  };
}
