#include <nearfield/tree/cell_list.hpp>

#include "cell_interactions.hpp"
#include "cell_sort.hpp"
#include "gaps.hpp"
#include "images.hpp"
#include "instantiate.hpp"
#include "reduce.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace nearfield
{
  namespace detail
  {
    template <class T, int Dim>
    struct cell_list_data
    {
      cell_grid<T, Dim> grid;
      std::array<std::vector<detail::axis_piece>, Dim> pieces; // of the grid
      bool one_set = true;
      double cutoff = 0; // as given
      reduced_points<T, Dim> reduced_targets, reduced_sources;
      sorted_cells<T, Dim> targets, sources;
      // by position, what brought points into the box; empty if all were inside
      std::vector<std::array<double, 3>> target_moves, source_moves;
      // two sets: the cells that hold points of either
      page_vector<std::uint64_t> keys;
      page_vector<index_type> target_offsets, source_offsets;
      list_pair lists;
      // one set where boxes meet images of themselves: of opposite ones, only one
      interaction_table half_of_boxes;
      std::vector<std::array<double, 3>> shifts;
      std::vector<image_counters<Dim>> images;

      detail::sort_scratch sort_scratch;
      cell_rows rows;
      std::vector<list_pair> list_pieces; // on threads
    };
  }

  namespace
  {
    /// Leaves out gaps that would make cells wide.
    template <class T, int Dim>
    void leave_gaps_out(executor& on, detail::cell_list_data<T, Dim>& data,
                        cell_list_options<T, Dim> const& options)
    {
      auto const &targets = data.reduced_targets.x, &sources = data.reduced_sources.x;
      if (targets.size() + sources.size() > std::numeric_limits<index_type>::max()) return;
      for (int a = 0; a < Dim; ++a)
      {
        if (!detail::has_wide_cells(data.grid, options, a)) continue;
        detail::sorted_axis const axis(on, targets[a], targets.size(), sources[a], sources.size(),
                                       data.sort_scratch);
        detail::leave_gaps_out(
            data.grid, options, a, axis.spacing(detail::crowd_of_cell),
            [&](double length) { return axis.gaps(length); }, data.pieces[a]);
      }
    }

    /// The half list of boxes: without those images of a box itself that others are opposite to.
    template <int Dim>
    void drop_opposite_images(detail::interaction_table const& half,
                              std::vector<detail::image_counters<Dim>> const& images,
                              detail::interaction_table& to)
    {
      to.own = half.own;
      to.offsets = half.offsets;
      to.ranges.clear();
      for (std::size_t b = 0; b < half.own.size(); ++b)
      {
        for (index_type r = half.offsets[b]; r < half.offsets[b + 1]; ++r)
        {
          detail::source_range const& range = half.ranges[r];
          if (range.begin != half.own[b].begin || detail::is_positive(images[range.shift]))
            to.ranges.push_back(range);
        }
        to.offsets[b + 1] = static_cast<index_type>(to.ranges.size());
      }
    }
  }

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::build(strided<T const, Dim> const& targets,
                                strided<T const, Dim> const* sources, double cutoff)
  {
    bool const one_set = sources == nullptr;
    executor& on = detail::threads_or_here(threads_);
    detail::require_columns(targets, one_set ? "points" : "queries");
    if (!one_set) detail::require_columns(*sources, "points");
    detail::check_cell_options(static_cast<T>(cutoff), options_);
    auto const frame = detail::frame_of(options_);
    detail::reduced_points<T, Dim> reduced_targets, reduced_sources;
    if (data_) // of which the memory is used again
    {
      reduced_targets.moved.swap(data_->reduced_targets.moved);
      reduced_sources.moved.swap(data_->reduced_sources.moved);
    }
    detail::reduce_points(on, frame, targets, one_set ? "points" : "queries", reduced_targets);
    if (!one_set) detail::reduce_points(on, frame, *sources, "points", reduced_sources);
    bool const has_both = targets.size() > 0 && reduced_sources.x.size() > 0;
    auto const bounds = has_both ? united(reduced_targets.bounds, reduced_sources.bounds)
                        : targets.size() > 0 ? reduced_targets.bounds
                                             : reduced_sources.bounds;
    detail::cell_grid<T, Dim> const grid =
        detail::make_cell_grid(bounds, static_cast<T>(cutoff), options_, frame);

    if (!data_) data_ = std::make_unique<detail::cell_list_data<T, Dim>>(); // moved from
    detail::cell_list_data<T, Dim>& data = *data_;
    try
    {
      data.grid = grid;
      data.cutoff = cutoff;
      data.one_set = one_set;
      data.reduced_targets = std::move(reduced_targets);
      data.reduced_sources = std::move(reduced_sources);
      leave_gaps_out(on, data, options_);
      detail::image_numbers<Dim> const images = detail::numbers_of(data.grid);
      detail::make_images(data.grid.frame, images, data.shifts, data.images);
      detail::sort_into_cells(on, data.reduced_targets.x, data.grid, data.targets,
                              data.sort_scratch);
      if (!one_set)
      {
        detail::sort_into_cells(on, data.reduced_sources.x, data.grid, data.sources,
                                data.sort_scratch);
        detail::unite(data.targets, data.sources, data.keys, data.target_offsets,
                      data.source_offsets);
      }
      data.target_moves = detail::moves_of(on, frame, data.reduced_targets, data.targets.indices());
      data.source_moves = detail::moves_of(on, frame, data.reduced_sources, data.sources.indices());
      detail::find_rows(on, data.grid, one_set ? data.targets.keys : data.keys, data.rows);
      data.lists = detail::list_in_parts(
          on,
          // by default a range per row within reach, and two in the box's own row
          {{one_set ? data.targets.offsets : data.target_offsets},
           {one_set ? data.targets.offsets : data.source_offsets},
           one_set,
           "cell_list",
           "fewer cells_per_cutoff",
           Dim == 3 ? 10u : 4u},
          [&](index_type first, index_type last, detail::list_writer& to)
          { detail::list_cells(data.grid, images, data.rows, first, last, to); },
          std::move(data.lists), &data.list_pieces);
      if (one_set && data.grid.meets_several_images())
        drop_opposite_images<Dim>(data.lists.half, data.images, data.half_of_boxes);
    }
    catch (...)
    {
      // out of memory halfway: an empty list is better than parts that do not match
      data = {};
      data.grid = grid;
      data.cutoff = cutoff;
      throw;
    }
  }

  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::cell_list(executor* threads, strided<T const, Dim> const& targets,
                               strided<T const, Dim> const* sources, double cutoff,
                               options_type const& options)
      : threads_(threads), options_(options),
        data_(std::make_unique<detail::cell_list_data<T, Dim>>())
  {
    build(targets, sources, cutoff);
  }

  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::~cell_list() = default;
  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::cell_list(cell_list&&) noexcept = default;
  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>& cell_list<T, Dim>::operator=(cell_list&&) noexcept = default;

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::rebuild(strided<T const, Dim> const& points)
  {
    build(points, nullptr, data_->cutoff);
  }
  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::rebuild(strided<T const, Dim> const& points, double cutoff)
  {
    build(points, nullptr, cutoff);
  }
  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::rebuild(strided<T const, Dim> const& queries,
                                  strided<T const, Dim> const& points)
  {
    build(queries, &points, data_->cutoff);
  }
  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::rebuild(strided<T const, Dim> const& queries,
                                  strided<T const, Dim> const& points, double cutoff)
  {
    build(queries, &points, cutoff);
  }

  template <detail::cell_real T, int Dim>
  detail::cell_view<T, Dim> cell_list<T, Dim>::view() const&
  {
    detail::cell_list_data<T, Dim> const& data = *data_;
    auto const& sources = data.one_set ? data.targets : data.sources;
    detail::cell_view<T, Dim> view;
    view.grid = data.grid;
    view.target_x = data.targets.positions();
    view.source_x = sources.positions();
    view.target_order = data.targets.indices();
    view.source_order = sources.indices();
    view.targets.offsets = data.one_set ? data.targets.offsets : data.target_offsets;
    view.sources.offsets = data.one_set ? data.targets.offsets : data.source_offsets;
    view.one_set = data.one_set;
    view.images = data.images;
    view.target_images = data.reduced_targets.images;
    view.source_images = data.one_set ? view.target_images : data.reduced_sources.images;
    view.full = data.lists.full.view(data.shifts);
    view.full_own_at = data.lists.full.own_at;
    if (data.one_set)
    {
      view.half = data.lists.half.view(data.shifts);
      view.half_own_at = data.lists.half.own_at;
    }
    return view;
  }

  template <detail::cell_real T, int Dim>
  index_type cell_list<T, Dim>::size() const
  {
    auto const& offsets = data_->one_set ? data_->targets.offsets : data_->target_offsets;
    return boxes{offsets}.size();
  }

  template <detail::cell_real T, int Dim>
  bool cell_list<T, Dim>::has_one_set() const
  {
    return data_->one_set;
  }

  template <detail::cell_real T, int Dim>
  detail::cell_grid<T, Dim> const& cell_list<T, Dim>::grid() const&
  {
    return data_->grid;
  }

  template <detail::cell_real T, int Dim>
  std::span<std::array<double, 3> const> cell_list<T, Dim>::target_moves() const&
  {
    return data_->target_moves;
  }

  template <detail::cell_real T, int Dim>
  std::span<std::array<double, 3> const> cell_list<T, Dim>::source_moves() const&
  {
    return data_->one_set ? data_->target_moves : data_->source_moves;
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::interactions() const&
  {
    return view().full;
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::half_interactions() const&
  {
    if (!has_one_set()) throw error("cell_list: two sets have no half list; use interactions()");
    return grid().meets_several_images() ? data_->half_of_boxes.view(data_->shifts) : view().half;
  }

  template class cell_list<float, 2>;
  template class cell_list<float, 3>;
  template class cell_list<double, 2>;
  template class cell_list<double, 3>;
}
