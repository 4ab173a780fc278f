#pragma once

#include <nearfield/core/api.hpp>

#include <string>

namespace nearfield::starpu
{
  /// Throws nearfield::error if `code`, returned by a StarPU function, is not 0. StarPU returns negative
  /// values of errno. `what` names the function and what it was called for.
  NEARFIELD_API void check(int code, std::string const& what);
}
