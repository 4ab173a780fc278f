// What only CUDA code can make, in a build without it.

#include "excluded_list.hpp"
#include "refuse_gpu.hpp"

#include <nearfield/p2p/cuda.hpp>

namespace nearfield
{
  cuda_list::cuda_list(cuda_backend, detail::device_leaves const&, bool)
  {
    detail::refuse_gpu();
  }

  detail::excluded_lists::excluded_lists(cuda_stream, device_leaves const&, excluded_rows const&)
  {
    refuse_gpu();
  }
  detail::device_leaves detail::excluded_lists::of(list const&, index_type const*) const
  {
    refuse_gpu();
  }

  template <class T>
  detail::cuda_kernels<T> detail::builtin_cuda_kernels(int)
  {
    refuse_gpu();
  }
  template detail::cuda_kernels<float> detail::builtin_cuda_kernels(int);
  template detail::cuda_kernels<double> detail::builtin_cuda_kernels(int);
}
