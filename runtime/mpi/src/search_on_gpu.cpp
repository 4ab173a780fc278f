#include <nearfield/starpu_mpi/radius_search.hpp>

#include "tree/src/instantiate.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

namespace nearfield::starpu_mpi::detail
{
  template <class T, int Dim, class What, class Found>
  void search_own(cuda_backend where, distributed_cells<T, Dim> const& cells, What const& what,
                  Found& found)
  {
    auto const known = cells.positions();
    std::array<T const*, Dim> own;
    for (int a = 0; a < Dim; ++a) own[a] = known[a];
    device_columns<T, Dim> const x(soa<T const, Dim>(own, cells.n_points()), where.stream);
    cuda_cell_list<T, Dim> list(where, x.view(), cells.own().cutoff(), cells.options().of_lists());
    found = nearfield::radius_search(where, list, what).to_host();
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template NEARFIELD_API void search_own(cuda_backend, distributed_cells<T, Dim> const&,           \
                                         count_pairs const&, pair_counts&);                        \
  template NEARFIELD_API void search_own(cuda_backend, distributed_cells<T, Dim> const&,           \
                                         to_coo const&, coo<T, Dim>&);                             \
  template NEARFIELD_API void search_own(cuda_backend, distributed_cells<T, Dim> const&,           \
                                         to_csr const&, csr<T, Dim>&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
