#include "range.hpp"

#if defined(NEARFIELD_WITH_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace nearfield::starpu::detail
{
#if defined(NEARFIELD_WITH_NVTX)
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
