#include "range.hpp"

#if defined(NEARFIELD_WITH_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace nearfield::app
{
#if defined(NEARFIELD_WITH_NVTX)
  range::range(char const* name)
  {
    nvtxRangePushA(name);
  }
  range::~range()
  {
    nvtxRangePop();
  }
#else
  range::range(char const*) {}
  range::~range() = default;
#endif
}
