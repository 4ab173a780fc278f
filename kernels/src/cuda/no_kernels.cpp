// What only CUDA code can make, in a build without it.

#include "refuse_gpu.hpp"

#include <nearfield/p2p/cuda.hpp>

namespace nearfield
{
  cuda_list::cuda_list(cuda_backend, detail::device_leaves const&, bool)
  {
    detail::refuse_gpu();
  }

  template <class T>
  detail::cuda_kernels<T> detail::builtin_cuda_kernels(int)
  {
    refuse_gpu();
  }
  template detail::cuda_kernels<float> detail::builtin_cuda_kernels(int);
  template detail::cuda_kernels<double> detail::builtin_cuda_kernels(int);
}
