#include "host_rows.hpp"

#include "search/src/pair_columns.hpp"

#include <nearfield/search/rows.hpp>

#include <algorithm>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Writes rows one after the other.
    template <class T, int Dim>
    struct row_writer
    {
      nearfield::detail::cell_view<T, Dim> const& cells;
      nearfield::detail::slab_columns<T, Dim> to;
      std::uint64_t size = 0;

      static void row(void* self, nearfield::detail::search_row<T, Dim> const& hits)
      {
        auto& [cells, to, size] = *static_cast<row_writer*>(self);
        std::copy_n(hits.j, hits.count, to.j + size);
        if (to.i) std::fill_n(to.i + size, hits.count, hits.i);
        nearfield::detail::put_geometry(cells, to, size, hits);
        size += hits.count;
      }
    };
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::sort(columns const& targets, columns const& sources)
  {
    auto const& grid = query_.grid;
    counts_.resize(targets.size());
    if (cells_ && query_.one_set)
      cells_->rebuild(targets);
    else if (cells_)
      cells_->rebuild(targets, sources);
    else if (query_.is_batch && query_.one_set)
      cells_.emplace(targets, query_.batch, grid);
    else if (query_.is_batch)
      cells_.emplace(targets, sources, query_.batch, grid);
    else if (query_.one_set)
      cells_.emplace(targets, query_.cutoff, grid);
    else
      cells_.emplace(targets, sources, query_.cutoff, grid);
  }

  template <class T, int Dim>
  template <class F>
  void host_rows<T, Dim>::search(index_type first, index_type last, F const& f) const
  {
    nearfield::detail::cell_view<T, Dim> cells = cells_->view();
    cells.filter = query_.filter;
    f(nearfield::detail::job_of_positions(cells, query_.which, first, last));
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::count(std::size_t k, index_type first, index_type last, index_type* rows,
                                std::uint64_t* offsets)
  {
    search(first, last,
           [&](auto const& job)
           {
             nearfield::detail::count_rows(nearfield::detail::isa_of(where_), job, counts_.data());
             std::copy_n(job.cells->target_order.begin() + first, last - first, rows);
           });
    index_type const n = last - first;
    offsets[0] = 0;
    for (index_type r = 0; r < n; ++r) offsets[r + 1] = offsets[r] + counts_[rows[r]];
    slabs_[k] = {first, last, offsets[n]};
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::fill(std::size_t k, nearfield::detail::slab_columns<T, Dim> const& to)
  {
    search(slabs_[k].first, slabs_[k].last,
           [&](auto const& job)
           {
             row_writer<T, Dim> writer{*job.cells, to};
             nearfield::detail::search_rows(
                 nearfield::detail::isa_of(where_), job, nearfield::detail::content_of(query_),
                 &row_writer<T, Dim>::row, &writer, nearfield::detail::has_images(query_));
           });
  }

  template class host_rows<float, 2>;
  template class host_rows<float, 3>;
  template class host_rows<double, 2>;
  template class host_rows<double, 3>;
}
