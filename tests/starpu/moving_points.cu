#include "moving_points.hpp"

namespace nearfield::test
{
  namespace
  {
    template <class T>
    __global__ void move_kernel(T* x, index_type n, int axis, int step)
    {
      index_type const i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) x[i] = moved_coordinate<T>(i, axis, step);
    }
  }

  template <class T>
  void move_points_on_gpu(T* x, index_type n, int axis, int step, cuda_stream stream)
  {
    move_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, n, axis, step);
  }

  template void move_points_on_gpu(float*, index_type, int, int, cuda_stream);
  template void move_points_on_gpu(double*, index_type, int, int, cuda_stream);
}
