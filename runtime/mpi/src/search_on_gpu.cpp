#include <nearfield/starpu_mpi/radius_search.hpp>

#include "tree/src/instantiate.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    /// f(a list of the own points on the current device)
    template <class T, int Dim, class F>
    void with_own(cuda_backend where, distributed_cells<T, Dim> const& cells, F const& f)
    {
      auto const known = cells.positions();
      std::array<T const*, Dim> own;
      for (int a = 0; a < Dim; ++a) own[a] = known[a];
      device_columns<T, Dim> const x(soa<T const, Dim>(own, cells.n_points()), where.stream);
      auto const options = cells.options().of_lists();
      auto const batch = cells.own_systems();
      auto list = batch.offsets.empty()
                      ? cuda_cell_list<T, Dim>(where, x.view(), cells.own().cutoff(), options)
                      : cuda_cell_list<T, Dim>(where, x.view(), batch, options);
      f(list);
    }
  }

  template <class T, int Dim, class What, class Found>
  void search_own(cuda_backend where, distributed_cells<T, Dim> const& cells, What const& what,
                  Found& found)
  {
    with_own(where, cells,
             [&](auto& list) { found = nearfield::radius_search(where, list, what).to_host(); });
  }

  template <class T, int Dim, class What, class Found>
  void search_own(cuda_backend where, filtered<T, Dim> const& some, What const& what, Found& found)
  {
    with_own(where, some.cells(),
             [&](auto& list)
             {
               cuda_filtered<T, Dim> const of_own(list, some.filter_of_own());
               found = nearfield::radius_search(where, of_own, what).to_host();
             });
  }

#define NEARFIELD_INSTANTIATE_FOR(Cells, T, Dim)                                                   \
  template NEARFIELD_API void search_own(cuda_backend, Cells<T, Dim> const&, count_pairs const&,   \
                                         pair_counts&);                                            \
  template NEARFIELD_API void search_own(cuda_backend, Cells<T, Dim> const&, to_coo const&,        \
                                         coo<T, Dim>&);                                            \
  template NEARFIELD_API void search_own(cuda_backend, Cells<T, Dim> const&, to_csr const&,        \
                                         csr<T, Dim>&);
#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  NEARFIELD_INSTANTIATE_FOR(distributed_cells, T, Dim)                                             \
  NEARFIELD_INSTANTIATE_FOR(filtered, T, Dim)
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
#undef NEARFIELD_INSTANTIATE_FOR
}
