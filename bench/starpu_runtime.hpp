#pragma once

#include <nearfield/starpu/runtime.hpp>

namespace bench
{
  /// StarPU, started by the first row that uses it.
  inline nearfield::starpu::runtime& starpu()
  {
    static nearfield::starpu::runtime instance;
    return instance;
  }
}
