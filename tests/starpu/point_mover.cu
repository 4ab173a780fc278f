#include "point_mover.hpp"

namespace nearfield::test
{
  namespace
  {
    template <class T>
    struct columns
    {
      T* x[3];
    };

    template <class T>
    __global__ void move_kernel(columns<T> points, int dim, std::size_t n)
    {
      std::size_t const i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
      if (i < n) move_point(points.x, dim, i);
    }
  }

  template <class T>
  void move_on_gpu(T* const* x, int dim, std::size_t n, cuda_stream stream)
  {
    columns<T> points{};
    for (int d = 0; d < dim; ++d) points.x[d] = x[d];
    move_kernel<<<static_cast<unsigned>(n / 128 + 1), 128, 0, stream>>>(points, dim, n);
  }

  template void move_on_gpu(float* const*, int, std::size_t, cuda_stream);
  template void move_on_gpu(double* const*, int, std::size_t, cuda_stream);
}
