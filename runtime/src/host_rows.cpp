#include "host_rows.hpp"

#include <nearfield/search/rows.hpp>

#include <algorithm>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Writes rows one after the other, with i if asked for.
    template <class T, int Dim>
    struct row_writer
    {
      index_type* i;
      index_type* j;

      static void row(void* self, nearfield::detail::search_row<T, Dim> const& hits)
      {
        auto& to = *static_cast<row_writer*>(self);
        to.j = std::copy_n(hits.j, hits.count, to.j);
        if (to.i) to.i = std::fill_n(to.i, hits.count, hits.i);
      }
    };
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::sort(columns const& targets, columns const& sources, bool one_set,
                               T cutoff)
  {
    counts_.resize(targets.size());
    if (!cells_ && one_set)
      cells_.emplace(targets, cutoff, grid_);
    else if (!cells_)
      cells_.emplace(targets, sources, cutoff, grid_);
    else if (one_set)
      cells_->rebuild(targets);
    else
      cells_->rebuild(targets, sources);
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::count(std::size_t k, pairs which, index_type first, index_type last,
                                index_type* rows, std::uint64_t* offsets)
  {
    nearfield::detail::cell_view<T, Dim> const cells = cells_->view();
    nearfield::detail::count_rows(nearfield::detail::isa_of(where_),
                                  nearfield::detail::job_of_positions(cells, which, first, last),
                                  counts_.data());
    index_type const n = last - first;
    offsets[0] = 0;
    for (index_type r = 0; r < n; ++r)
    {
      rows[r] = cells.target_order[first + r];
      offsets[r + 1] = offsets[r] + counts_[rows[r]];
    }
    slabs_[k] = {which, first, last, offsets[n]};
  }

  template <class T, int Dim>
  void host_rows<T, Dim>::fill(std::size_t k, index_type* i, index_type* j)
  {
    slab const& one = slabs_[k];
    row_writer<T, Dim> to{i, j};
    nearfield::detail::search_rows(
        nearfield::detail::isa_of(where_),
        nearfield::detail::job_of_positions(cells_->view(), one.which, one.first, one.last),
        nearfield::detail::row_content::indices, &row_writer<T, Dim>::row, &to);
  }

  template class host_rows<float, 2>;
  template class host_rows<float, 3>;
  template class host_rows<double, 2>;
  template class host_rows<double, 3>;
}
