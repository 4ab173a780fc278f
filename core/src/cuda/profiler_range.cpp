#include <nearfield/cuda/device.hpp>

#if defined(NEARFIELD_HAS_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace nearfield::detail
{
#if defined(NEARFIELD_HAS_CUDA)
  profiler_range::profiler_range(char const* name) noexcept
  {
    nvtxRangePushA(name);
  }
  profiler_range::~profiler_range()
  {
    nvtxRangePop();
  }
#else
  profiler_range::profiler_range(char const*) noexcept {}
  profiler_range::~profiler_range() = default;
#endif
}
