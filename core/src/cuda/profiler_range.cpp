#include <nearfield/cuda/device.hpp>

#if defined(NEARFIELD_HAS_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace nearfield::detail
{
#if defined(NEARFIELD_HAS_CUDA)
  range::range(char const* name) noexcept
  {
    nvtxRangePushA(name);
  }
  range::~range()
  {
    nvtxRangePop();
  }
#else
  range::range(char const*) noexcept {}
  range::~range() = default;
#endif
}
