// The cells, sorts and trees in a build without CUDA.

#include "cuda_tree.hpp"
#include "device_cells.hpp"
#include "gpu_points.hpp"
#include "no_tree.hpp"
#include "refuse_gpu.hpp"

namespace nearfield
{
  template <class T, int Dim>
  std::unique_ptr<detail::device_cells<T, Dim>>
  detail::device_cells<T, Dim>::make(cuda_stream, cell_list_options<T, Dim> const&)
  {
    refuse_gpu();
  }
  template <class T, int Dim>
  std::unique_ptr<detail::gpu_points<T, Dim>> detail::gpu_points<T, Dim>::make(int, executor&)
  {
    refuse_gpu();
  }

  template class cuda_tree<2>;
  template class cuda_tree<3>;

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template cuda_tree<Dim>::cuda_tree(cuda_backend, detail::device_positions<T, Dim> const&,        \
                                     tree_options<Dim> const&);                                    \
  template class detail::device_cells<T, Dim>;                                                     \
  template class detail::gpu_points<T, Dim>;                                                       \
  template void cuda_tree<Dim>::build(detail::device_positions<T, Dim> const&);                    \
  template void cuda_tree<Dim>::enqueue(detail::device_positions<T, Dim> const&);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
