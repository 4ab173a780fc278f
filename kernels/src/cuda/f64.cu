#include "table.cuh"

namespace nearfield::detail
{
  template <>
  cuda_kernels<double> builtin_cuda_kernels<double>(int interaction)
  {
    return nth_cuda_kernels<double>(builtin_interactions{}, interaction);
  }
}
