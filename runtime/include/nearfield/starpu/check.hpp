#pragma once

#include <nearfield/core/api.hpp>

#include <string>

namespace nearfield::starpu
{
  /// Throws error when a StarPU function returned a code other than 0; `what` is the function and what
  /// it was called for. StarPU returns negative values of errno.
  NEARFIELD_API void check(int code, std::string const& what);
}
