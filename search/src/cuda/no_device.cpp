// Stubs of the search for a build without CUDA; their errors say how to get one with it.

#include "device_cells.hpp"
#include "device_rows.hpp"
#include "refuse_gpu.hpp"

#include <nearfield/search/cuda.hpp>

namespace nearfield
{
  namespace detail
  {
    template <class T, int Dim>
    device_counts device_search(device_cells<T, Dim>&, count_pairs const&)
    {
      refuse_gpu();
    }
    template <class T, int Dim>
    device_coo<T, Dim> device_search(device_cells<T, Dim>&, to_coo const&)
    {
      refuse_gpu();
    }
    template <class T, int Dim>
    device_csr<T, Dim> device_search(device_cells<T, Dim>&, to_csr const&)
    {
      refuse_gpu();
    }
    template <class T, int Dim>
    device_table device_search(device_cells<T, Dim>&, to_table const&)
    {
      refuse_gpu();
    }
  }

  template <class T, int Dim>
  std::unique_ptr<detail::device_rows<T, Dim>>
  detail::device_rows<T, Dim>::make(cuda_stream, cell_list_options<T, Dim> const&, std::size_t)
  {
    refuse_gpu();
  }

#define NEARFIELD_NO_CUDA_SEARCH(T, Dim)                                                           \
  template class detail::device_rows<T, Dim>;                                                      \
  template device_counts detail::device_search(device_cells<T, Dim>&, count_pairs const&);         \
  template device_coo<T, Dim> detail::device_search(device_cells<T, Dim>&, to_coo const&);         \
  template device_csr<T, Dim> detail::device_search(device_cells<T, Dim>&, to_csr const&);         \
  template device_table detail::device_search(device_cells<T, Dim>&, to_table const&);
  NEARFIELD_NO_CUDA_SEARCH(float, 2)
  NEARFIELD_NO_CUDA_SEARCH(float, 3)
  NEARFIELD_NO_CUDA_SEARCH(double, 2)
  NEARFIELD_NO_CUDA_SEARCH(double, 3)
}
