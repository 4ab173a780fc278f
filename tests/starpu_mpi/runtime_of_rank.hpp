#pragma once

#include <nearfield/starpu/runtime.hpp>

namespace nearfield::test
{
  /// StarPU on this rank, with StarPU-MPI over all.
  starpu::runtime& runtime_of_rank();
}
