// Stubs of the search for a build without CUDA; their errors say how to get one with it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/cuda_rows.hpp>

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
    class device_cells
    {};

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
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend, columns const&, std::type_identity_t<T>,
                                         std::type_identity_t<options_type> const&)
  {
    fail();
  }
  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend, columns const&, columns const&,
                                         std::type_identity_t<T>,
                                         std::type_identity_t<options_type> const&)
  {
    fail();
  }
  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_cell_list&&) noexcept = default;
  template <class T, int Dim>
  cuda_cell_list<T, Dim>& cuda_cell_list<T, Dim>::operator=(cuda_cell_list&&) noexcept = default;
  template <class T, int Dim>
  cuda_cell_list<T, Dim>::~cuda_cell_list() = default;
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const&)
  {
    fail();
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const&, T)
  {
    fail();
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const&, columns const&)
  {
    fail();
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const&, columns const&, T)
  {
    fail();
  }
  template <class T, int Dim>
  cell_grid<T, Dim> const& cuda_cell_list<T, Dim>::grid() const
  {
    fail();
  }
  template <class T, int Dim>
  std::size_t cuda_cell_list<T, Dim>::n_targets() const
  {
    fail();
  }
  template <class T, int Dim>
  std::size_t cuda_cell_list<T, Dim>::n_sources() const
  {
    fail();
  }
  template <class T, int Dim>
  bool cuda_cell_list<T, Dim>::has_one_set() const
  {
    fail();
  }
  template <class T, int Dim>
  cuda_stream cuda_cell_list<T, Dim>::stream() const
  {
    fail();
  }
  template <class T, int Dim>
  std::span<index_type const> cuda_cell_list<T, Dim>::target_order()
  {
    fail();
  }
  template <class T, int Dim>
  std::span<index_type const> cuda_cell_list<T, Dim>::source_order()
  {
    fail();
  }

  template <class T, int Dim>
  detail::cuda_rows<T, Dim>::cuda_rows(cuda_stream, cell_grid<T, Dim> const&, columns const&,
                                       columns const&, bool)
  {
    fail();
  }
  template <class T, int Dim>
  detail::cuda_rows<T, Dim>::~cuda_rows() = default;
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::rebuild(cell_grid<T, Dim> const&, columns const&, columns const&,
                                          bool)
  {
    fail();
  }
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::bind(columns const&, columns const&)
  {}
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::count(pairs, index_type, index_type, std::uint64_t*,
                                        std::uint64_t*)
  {
    fail();
  }
  template <class T, int Dim>
  void detail::cuda_rows<T, Dim>::fill(pairs, index_type, index_type, std::uint64_t const*,
                                       index_type*, index_type*)
  {
    fail();
  }

#define NEARFIELD_NO_CUDA_SEARCH(T, Dim)                                                           \
  template class cuda_cell_list<T, Dim>;                                                           \
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
