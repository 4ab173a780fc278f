#include "slab_points.hpp"

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
  void slab_points<T, Dim>::sort(columns const& targets, columns const& sources,
                                 std::optional<cuda_stream> gpu)
  {
    is_sorted_ = false;
    if (!gpu)
      sort_on_cpu(targets, sources);
    else
    {
      if (!on_gpu_)
        on_gpu_ = nearfield::detail::device_rows<T, Dim>::make(*gpu, query_->options.grid,
                                                               n_pairs_.size());
      on_gpu_->sort(targets, sources, query_->one_set, static_cast<T>(query_->cutoff));
    }
    is_sorted_ = true;
  }

  template <class T, int Dim>
  void slab_points<T, Dim>::sort_on_cpu(columns const& targets, columns const& sources)
  {
    counts_.resize(targets.size());
    auto const& [options, cutoff, one_set] = *query_;
    if (!cells_ && one_set)
      cells_.emplace(targets, cutoff, options.grid);
    else if (!cells_)
      cells_.emplace(targets, sources, cutoff, options.grid);
    else if (one_set)
      cells_->rebuild(targets);
    else
      cells_->rebuild(targets, sources);
  }

  template <class T, int Dim>
  void slab_points<T, Dim>::bind(columns const& targets, columns const& sources)
  {
    if (on_gpu_) on_gpu_->bind(targets, sources);
  }

  template <class T, int Dim>
  void slab_points<T, Dim>::count(std::size_t k, index_type first, index_type last,
                                  index_type* rows, std::uint64_t* offsets)
  {
    auto const& options = query_->options;
    if (on_gpu_) return on_gpu_->count(k, options.which, first, last, rows, offsets);
    cell_view<T, Dim> const cells = cells_->view();
    nearfield::detail::count_rows(
        nearfield::detail::isa_of(options.backend),
        nearfield::detail::job_of_positions(cells, options.which, first, last), counts_.data());
    index_type const n = last - first;
    offsets[0] = 0;
    for (index_type r = 0; r < n; ++r)
    {
      rows[r] = cells.target_order[first + r];
      offsets[r + 1] = offsets[r] + counts_[rows[r]];
    }
    n_pairs_[k] = offsets[n];
  }

  template <class T, int Dim>
  void slab_points<T, Dim>::fill(std::size_t k, index_type first, index_type last, index_type* i,
                                 index_type* j)
  {
    auto const& options = query_->options;
    if (on_gpu_) return on_gpu_->fill(k, i, j);
    cell_view<T, Dim> const cells = cells_->view();
    row_writer<T, Dim> to{i, j};
    nearfield::detail::search_rows(
        nearfield::detail::isa_of(options.backend),
        nearfield::detail::job_of_positions(cells, options.which, first, last),
        nearfield::detail::row_content::indices, &row_writer<T, Dim>::row, &to);
  }

  template class slab_points<float, 2>;
  template class slab_points<float, 3>;
  template class slab_points<double, 2>;
  template class slab_points<double, 3>;
}
