// Stubs of the cells for a build without CUDA; their errors say how to get one with it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/tree/cuda.hpp>

namespace nearfield
{
  namespace
  {
    [[noreturn]] void fail()
    {
      throw error("cuda: " + cuda_problem(), error_kind::not_available);
    }
  }

  template <class T, int Dim>
  class detail::device_cells
  {};

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

  template class cuda_cell_list<float, 2>;
  template class cuda_cell_list<float, 3>;
  template class cuda_cell_list<double, 2>;
  template class cuda_cell_list<double, 3>;
}
