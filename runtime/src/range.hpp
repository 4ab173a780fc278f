#pragma once

namespace nearfield::starpu::detail
{
  /// What a worker does, under that name on the time line of NVIDIA's profilers (NVTX); nothing where this
  /// library was built without CUDA.
  class range
  {
  public:
    explicit range(char const* name) noexcept;
    range(range const&) = delete;
    range& operator=(range const&) = delete;
    ~range();
  };
}
