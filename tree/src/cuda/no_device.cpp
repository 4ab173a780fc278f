// The cells in a build without CUDA.

#include "cuda_cell_list.hpp"
#include "no_cells.hpp"

namespace nearfield
{
  template class cuda_cell_list<float, 2>;
  template class cuda_cell_list<float, 3>;
  template class cuda_cell_list<double, 2>;
  template class cuda_cell_list<double, 3>;
}
