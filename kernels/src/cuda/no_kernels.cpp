// Stubs for a build without CUDA; their errors say how to get one with it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda.hpp>

namespace nearfield
{
  cuda_list::cuda_list(cuda_stream, device_leaves const&, bool)
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
}

namespace nearfield::detail
{
  template <>
  cuda_kernels<float> builtin_cuda_kernels<float>(int)
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
  template <>
  cuda_kernels<double> builtin_cuda_kernels<double>(int)
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
}
