// Stubs of the search for a build without CUDA; their errors say how to get one with it.

#include "no_cells.hpp"

#include <nearfield/search/cuda.hpp>

namespace nearfield
{
  namespace
  {
    [[noreturn]] void fail()
    {
      throw error("cuda: " + cuda_problem(), error_kind::not_available);
    }
  }

  namespace detail
  {
    template <class T, int Dim>
    device_counts device_search(device_cells<T, Dim>&, count_pairs const&)
    {
      fail();
    }
    template <class T, int Dim>
    device_coo<T, Dim> device_search(device_cells<T, Dim>&, to_coo const&)
    {
      fail();
    }
    template <class T, int Dim>
    device_csr<T, Dim> device_search(device_cells<T, Dim>&, to_csr const&)
    {
      fail();
    }
    template <class T, int Dim>
    device_table device_search(device_cells<T, Dim>&, to_table const&)
    {
      fail();
    }
  }

  template <class T, int Dim>
  struct detail::cuda_rows<T, Dim>::slab
  {};
  template <class T, int Dim>
  detail::cuda_rows<T, Dim>::cuda_rows(cuda_stream, cell_list_options<T, Dim> const&, std::size_t)
  {
    fail();
  }
  template <class T, int Dim>
  detail::cuda_rows<T, Dim>::~cuda_rows() = default;
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::sort(columns const&, columns const&, bool, T)
  {
    fail();
  }
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::bind(columns const&, columns const&)
  {}
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::count(std::size_t, pairs, index_type, index_type, index_type*,
                                        std::uint64_t*)
  {
    fail();
  }
  template <class T, int Dim>
  std::uint64_t detail::cuda_rows<T, Dim>::n_pairs(std::size_t) const
  {
    fail();
  }
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::leave_room(std::size_t, std::uint64_t)
  {}
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::fill(std::size_t, index_type*, index_type*)
  {
    fail();
  }

#define NEARFIELD_NO_CUDA_SEARCH(T, Dim)                                                           \
  template class detail::cuda_rows<T, Dim>;                                                        \
  template device_counts detail::device_search(device_cells<T, Dim>&, count_pairs const&);         \
  template device_coo<T, Dim> detail::device_search(device_cells<T, Dim>&, to_coo const&);         \
  template device_csr<T, Dim> detail::device_search(device_cells<T, Dim>&, to_csr const&);         \
  template device_table detail::device_search(device_cells<T, Dim>&, to_table const&);
  NEARFIELD_NO_CUDA_SEARCH(float, 2)
  NEARFIELD_NO_CUDA_SEARCH(float, 3)
  NEARFIELD_NO_CUDA_SEARCH(double, 2)
  NEARFIELD_NO_CUDA_SEARCH(double, 3)
}
