#pragma once

#include <utility>

namespace nearfield::app
{
  /// A stretch of the calling thread's time, under that name on the time line of NVIDIA's profilers (NVTX);
  /// nothing where this program was built without CUDA.
  class range
  {
  public:
    explicit range(char const* name);
    range(range const&) = delete;
    range& operator=(range const&) = delete;
    ~range();
  };

  /// f(), in a range of that name.
  template <class F>
  decltype(auto) in_range(char const* name, F&& f)
  {
    range const here(name);
    return std::forward<F>(f)();
  }
}
