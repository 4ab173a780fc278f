#include <nearfield/tree/cell_list.hpp>

#include "cell_interactions.hpp"
#include "cell_sort.hpp"
#include "gaps.hpp"
#include "images.hpp"
#include "instantiate.hpp"

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
      sorted_cells<T, Dim> targets, sources;
      // two sets: the cells that hold points of either
      page_vector<std::uint64_t> keys;
      page_vector<index_type> target_offsets, source_offsets;
      list_pair lists;
      std::array<T, Dim> shifted_by{}; // the periods of the shifts
      std::vector<std::array<double, 3>> shifts;

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
                        cell_list_options<T, Dim> const& options,
                        strided<T const, Dim> const& targets, strided<T const, Dim> const& sources)
    {
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
    constexpr T infinity = std::numeric_limits<T>::infinity();
    detail::point_bounds<T, Dim> bounds;
    bounds.lower.fill(infinity);
    bounds.upper.fill(-infinity);
    detail::extend_bounds<T, Dim>(bounds, targets, options_.period, one_set ? "points" : "queries",
                                  on);
    if (!one_set) detail::extend_bounds<T, Dim>(bounds, *sources, options_.period, "points", on);
    if (bounds.lower[0] > bounds.upper[0]) // no points at all
    {
      bounds.lower.fill(0);
      bounds.upper.fill(0);
    }
    detail::cell_grid<T, Dim> const grid =
        detail::make_cell_grid(bounds.lower, bounds.upper, static_cast<T>(cutoff), options_);

    if (!data_) data_ = std::make_unique<detail::cell_list_data<T, Dim>>(); // moved from
    detail::cell_list_data<T, Dim>& data = *data_;
    try
    {
      data.grid = grid;
      data.cutoff = cutoff;
      data.one_set = one_set;
      leave_gaps_out(on, data, options_, targets, one_set ? strided<T const, Dim>() : *sources);
      std::array<T, Dim> period = data.grid.period;
      for (int a = 0; a < Dim; ++a)
        if (data.grid.axes[a] != detail::grid_axis::periodic) period[a] = 0;
      if (period != data.shifted_by) data.shifts = detail::shifts_of(data.shifted_by = period);
      detail::sort_into_cells(on, targets, data.grid, data.targets, data.sort_scratch);
      if (!one_set)
      {
        detail::sort_into_cells(on, *sources, data.grid, data.sources, data.sort_scratch);
        detail::unite(data.targets, data.sources, data.keys, data.target_offsets,
                      data.source_offsets);
      }
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
          { detail::list_cells(data.grid, data.rows, first, last, to); }, std::move(data.lists),
          &data.list_pieces);
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
    view.full = data.lists.full.view();
    view.full.shifts = data.shifts;
    if (data.one_set)
    {
      view.half = data.lists.half.view();
      view.half.shifts = data.shifts;
    }
    return view;
  }

  template <detail::cell_real T, int Dim>
  detail::cell_grid<T, Dim> const& cell_list<T, Dim>::grid() const&
  {
    return data_->grid;
  }

  namespace
  {
    /// The shortest period whose cells wrap around: they are 2 k + 1.
    template <class T>
    T least_wrapping_period(T cutoff, int k)
    {
      T period = static_cast<T>((2 * k + 1) * detail::least_width(cutoff, T(0), k));
      auto const cells = [&]
      {
        return double(period) / detail::least_width(cutoff, period, k);
      };
      while (cells() < 2 * k + 1) period *= 1 + std::numeric_limits<T>::epsilon();
      return period;
    }
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::interactions() const&
  {
    for (int a = 0; a < Dim; ++a)
      if (grid().axes[a] == detail::grid_axis::minimum_image)
      {
        int const k = detail::cells_per_cutoff(options_, a);
        throw error("cell_list: the period " + detail::number_text(grid().period[a]) + " of axis " +
                    std::to_string(a) +
                    " holds too few cells for an interaction list; give a "
                    "period of at least " +
                    detail::number_text(least_wrapping_period(cutoff(), k)) +
                    ", a smaller cutoff or a larger cells_per_cutoff than " + std::to_string(k));
      }
    return view().full;
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::half_interactions() const&
  {
    if (!has_one_set()) throw error("cell_list: two sets have no half list; use interactions()");
    (void)interactions(); // checks the same conditions
    return view().half;
  }

  template class cell_list<float, 2>;
  template class cell_list<float, 3>;
  template class cell_list<double, 2>;
  template class cell_list<double, 3>;
}
