// What only CUDA code can make, in a build without it.

#include "device_cells.hpp"
#include "device_tree.hpp"
#include "gpu_points.hpp"
#include "refuse_gpu.hpp"

namespace nearfield::detail
{
  template <int Dim>
  std::unique_ptr<device_tree<Dim>> device_tree<Dim>::make(cuda_stream, tree_options<Dim> const&)
  {
    refuse_gpu();
  }
  template <class T, int Dim>
  std::unique_ptr<device_cells<T, Dim>> device_cells<T, Dim>::make(cuda_stream,
                                                                   cell_list_options<T, Dim> const&)
  {
    refuse_gpu();
  }
  template <class T, int Dim>
  std::unique_ptr<gpu_points<T, Dim>> gpu_points<T, Dim>::make(int, executor&)
  {
    refuse_gpu();
  }

  template class device_tree<2>;
  template class device_tree<3>;
  template class device_cells<float, 2>;
  template class device_cells<float, 3>;
  template class device_cells<double, 2>;
  template class device_cells<double, 3>;
  template class gpu_points<float, 2>;
  template class gpu_points<float, 3>;
  template class gpu_points<double, 2>;
  template class gpu_points<double, 3>;
}
