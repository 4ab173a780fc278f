#pragma once

#include <nearfield/starpu/runtime.hpp>

namespace nearfield::test
{
  /// The runtime of the test program.
  starpu::runtime& one_runtime();
}
