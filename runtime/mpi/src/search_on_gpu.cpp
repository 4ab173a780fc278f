#include <nearfield/starpu_mpi/radius_search.hpp>

#include "tree/src/instantiate.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    template <class T, int Dim, class What>
    auto search_on_gpu(cuda_backend where, distributed_cells<T, Dim> const& cells, What const& what)
    {
      auto const known = cells.positions();
      std::array<T const*, Dim> own;
      for (int a = 0; a < Dim; ++a) own[a] = known[a];
      device_columns<T, Dim> const x(soa<T const, Dim>(own, cells.n_points()), where.stream);
      auto const& [period, cells_per_cutoff, first_number] = cells.options();
      cuda_cell_list<T, Dim> list(where, x.view(), cells.own().cutoff(),
                                  {cells_per_cutoff, period});
      return nearfield::radius_search(where, list, what).to_host();
    }
  }

  template <class T, int Dim>
  pair_counts search_own(cuda_backend where, distributed_cells<T, Dim> const& cells,
                         count_pairs const& what)
  {
    return search_on_gpu(where, cells, what);
  }
  template <class T, int Dim>
  coo<T, Dim> search_own(cuda_backend where, distributed_cells<T, Dim> const& cells,
                         to_coo const& what)
  {
    return search_on_gpu(where, cells, what);
  }
  template <class T, int Dim>
  csr<T, Dim> search_own(cuda_backend where, distributed_cells<T, Dim> const& cells,
                         to_csr const& what)
  {
    return search_on_gpu(where, cells, what);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template pair_counts search_own(cuda_backend, distributed_cells<T, Dim> const&,                  \
                                  count_pairs const&);                                             \
  template coo<T, Dim> search_own(cuda_backend, distributed_cells<T, Dim> const&, to_coo const&);  \
  template csr<T, Dim> search_own(cuda_backend, distributed_cells<T, Dim> const&, to_csr const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
