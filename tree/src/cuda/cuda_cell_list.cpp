#include <nearfield/tree/cuda.hpp>

#include "device_cells.hpp"

#include <nearfield/core/error.hpp>

#include <string>

namespace nearfield
{
  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend where, columns const& points,
                                         std::type_identity_t<T> cutoff,
                                         std::type_identity_t<options_type> const& options)
      : cells_(detail::device_cells<T, Dim>::make(where.stream, options))
  {
    cells_->build(points, points, true, cutoff);
  }

  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend where, columns const& queries,
                                         columns const& points, std::type_identity_t<T> cutoff,
                                         std::type_identity_t<options_type> const& options)
      : cells_(detail::device_cells<T, Dim>::make(where.stream, options))
  {
    cells_->build(queries, points, false, cutoff);
  }

  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend where, columns const& points,
                                         systems<Dim> const& of,
                                         std::type_identity_t<options_type> const& options)
      : cells_(detail::device_cells<T, Dim>::make(where.stream, options))
  {
    cells_->build(points, points, true, of);
  }

  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_backend where, columns const& queries,
                                         columns const& points, systems<Dim> const& of,
                                         std::type_identity_t<options_type> const& options)
      : cells_(detail::device_cells<T, Dim>::make(where.stream, options))
  {
    cells_->build(queries, points, false, of);
  }

  template <class T, int Dim>
  cuda_cell_list<T, Dim>::cuda_cell_list(cuda_cell_list&&) noexcept = default;
  template <class T, int Dim>
  cuda_cell_list<T, Dim>& cuda_cell_list<T, Dim>::operator=(cuda_cell_list&&) noexcept = default;
  template <class T, int Dim>
  cuda_cell_list<T, Dim>::~cuda_cell_list() = default;

  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& points)
  {
    cells_->rebuild(points, points, true, {});
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& points, T cutoff)
  {
    cells_->build(points, points, true, cutoff);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& points, systems<Dim> const& of)
  {
    cells_->build(points, points, true, of);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& queries, columns const& points)
  {
    cells_->rebuild(queries, points, false, {});
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& queries, columns const& points, T cutoff)
  {
    cells_->build(queries, points, false, cutoff);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::rebuild(columns const& queries, columns const& points,
                                       systems<Dim> const& of)
  {
    cells_->build(queries, points, false, of);
  }

  template <class T, int Dim>
  std::uint32_t const* cuda_cell_list<T, Dim>::needs_rebuild(columns const& points,
                                                             given_cells cells)
  {
    return cells_->needs_rebuild(points, points, true, cells.of);
  }
  template <class T, int Dim>
  std::uint32_t const* cuda_cell_list<T, Dim>::needs_rebuild(columns const& queries,
                                                             columns const& points,
                                                             given_cells cells)
  {
    return cells_->needs_rebuild(queries, points, false, cells.of);
  }
  template <class T, int Dim>
  bool cuda_cell_list<T, Dim>::update(columns const& points, given_cells cells)
  {
    return cells_->update(points, points, true, cells.of, true);
  }
  template <class T, int Dim>
  bool cuda_cell_list<T, Dim>::update(columns const& queries, columns const& points,
                                      given_cells cells)
  {
    return cells_->update(queries, points, false, cells.of, true);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::update_unchecked(columns const& points, given_cells cells)
  {
    cells_->update(points, points, true, cells.of, false);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::update_unchecked(columns const& queries, columns const& points,
                                                given_cells cells)
  {
    cells_->update(queries, points, false, cells.of, false);
  }

  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::fix_capacity(double factor)
  {
    cells_->fix_capacity(factor);
  }
  template <class T, int Dim>
  found_cells const* cuda_cell_list<T, Dim>::found() const
  {
    return cells_->found();
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::check_capacity() const
  {
    cells_->check_capacity();
  }

  template <class T, int Dim>
  std::size_t cuda_cell_list<T, Dim>::n_systems() const
  {
    return cells_->is_batch() ? cells_->given_systems().offsets.size() - 1 : 1;
  }
  template <class T, int Dim>
  detail::cell_grid<T, Dim> const& cuda_cell_list<T, Dim>::grid(std::size_t system) const
  {
    check_system(system);
    return cells_->grid_of_system(system);
  }
  template <class T, int Dim>
  T cuda_cell_list<T, Dim>::cutoff(std::size_t system) const
  {
    check_system(system);
    return cells_->cutoff_of_system(system);
  }
  template <class T, int Dim>
  void cuda_cell_list<T, Dim>::check_system(std::size_t system) const
  {
    if (system >= n_systems())
      throw error("cuda_cell_list: there are " + std::to_string(n_systems()) +
                  " systems; found number " + std::to_string(system));
  }
  template <class T, int Dim>
  std::size_t cuda_cell_list<T, Dim>::n_targets() const
  {
    return cells_->target_x().size();
  }
  template <class T, int Dim>
  std::size_t cuda_cell_list<T, Dim>::n_sources() const
  {
    return cells_->source_x().size();
  }
  template <class T, int Dim>
  bool cuda_cell_list<T, Dim>::has_one_set() const
  {
    return cells_->one_set();
  }
  template <class T, int Dim>
  cuda_stream cuda_cell_list<T, Dim>::stream() const
  {
    return cells_->stream();
  }
  template <class T, int Dim>
  std::span<index_type const> cuda_cell_list<T, Dim>::target_order() &
  {
    return cells_->target_order();
  }
  template <class T, int Dim>
  std::span<index_type const> cuda_cell_list<T, Dim>::source_order() &
  {
    return cells_->source_order();
  }

  template <class T, int Dim>
  index_type cuda_cell_list<T, Dim>::size() const
  {
    return cells_->n_leaves();
  }
  template <class T, int Dim>
  detail::device_leaves cuda_cell_list<T, Dim>::on_device() const&
  {
    return cells_->leaves();
  }

  template class cuda_cell_list<float, 2>;
  template class cuda_cell_list<float, 3>;
  template class cuda_cell_list<double, 2>;
  template class cuda_cell_list<double, 3>;
}
