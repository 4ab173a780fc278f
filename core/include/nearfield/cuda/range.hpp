#pragma once

#include <nearfield/core/api.hpp>

namespace nearfield::detail
{
  /// Shows the calling thread's time from construction to destruction under `name` in NVIDIA's profilers (an
  /// NVTX range). Does nothing if nearfield was built without CUDA.
  class NEARFIELD_API range
  {
  public:
    explicit range(char const* name) noexcept;
    range(range const&) = delete;
    range& operator=(range const&) = delete;
    ~range();
  };
}
