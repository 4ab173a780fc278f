// What only CUDA code can make or search, in a build without it.

#include "device_rows.hpp"
#include "refuse_gpu.hpp"

#include <nearfield/search/cuda.hpp>

namespace nearfield::detail
{
  template <class Result, class T, int Dim, class Sink>
  Result device_search(device_cells<T, Dim>&, Sink const&, device_filter<T> const*)
  {
    refuse_gpu();
  }
  template <class T, int Dim>
  std::unique_ptr<device_rows<T, Dim>>
  device_rows<T, Dim>::make(cuda_stream, slab_query<T, Dim> const&, std::size_t)
  {
    refuse_gpu();
  }
  template <class List>
  List device_pairs_within(cuda_stream, List const&, double, bool)
  {
    refuse_gpu();
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template device_csr<T, Dim> device_pairs_within(cuda_stream, device_csr<T, Dim> const&, double,  \
                                                  bool);                                           \
  template device_coo<T, Dim> device_pairs_within(cuda_stream, device_coo<T, Dim> const&, double,  \
                                                  bool);                                           \
  template class device_rows<T, Dim>;                                                              \
  template device_counts device_search(device_cells<T, Dim>&, count_pairs const&,                  \
                                       device_filter<T> const*);                                   \
  template device_coo<T, Dim> device_search(device_cells<T, Dim>&, to_coo const&,                  \
                                            device_filter<T> const*);                              \
  template device_csr<T, Dim> device_search(device_cells<T, Dim>&, to_csr const&,                  \
                                            device_filter<T> const*);                              \
  template device_table device_search(device_cells<T, Dim>&, to_table const&,                      \
                                      device_filter<T> const*);                                    \
  template void device_search(device_cells<T, Dim>&, to_rows const&, device_filter<T> const*);     \
  template std::uint64_t device_search(device_cells<T, Dim>&, to_arrays<T, Dim> const&,            \
                                       device_filter<T> const*);                                   \
  template void device_search(device_cells<T, Dim>&, counted_on_device<T, Dim> const&,             \
                              device_filter<T> const*);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
