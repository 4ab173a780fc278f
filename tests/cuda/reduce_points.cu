#include "reduce_points.hpp"

namespace nearfield::test
{
  namespace
  {
    template <class T, int Dim>
    __global__ void reduce_kernel(detail::cell_frame<Dim> frame, std::array<T, Dim> const* x,
                                  detail::reduced_point<T, Dim>* points, std::size_t n)
    {
      std::size_t const i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
      if (i < n) points[i] = frame.reduce(x[i]);
    }
  }

  template <class T, int Dim>
  void reduce_on_gpu(detail::cell_frame<Dim> const& frame, std::array<T, Dim> const* x,
                     detail::reduced_point<T, Dim>* points, std::size_t n)
  {
    reduce_kernel<T, Dim><<<static_cast<unsigned>(n / 128 + 1), 128>>>(frame, x, points, n);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void reduce_on_gpu<T, Dim>(detail::cell_frame<Dim> const&, std::array<T, Dim> const*,   \
                                      detail::reduced_point<T, Dim>*, std::size_t);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
}
