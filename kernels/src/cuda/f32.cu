#include "table.cuh"

namespace nearfield::detail
{
  template <>
  cuda_kernels<float> builtin_cuda_kernels<float>(int interaction)
  {
    return nth_cuda_kernels<float>(builtin_interactions{}, interaction);
  }
}
