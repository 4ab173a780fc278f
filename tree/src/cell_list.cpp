#include <nearfield/tree/cell_list.hpp>

#include "cell_build.hpp"
#include "cell_update.hpp"
#include "instantiate.hpp"

#include <nearfield/core/error.hpp>

#include <string>
#include <utility>

namespace nearfield
{
  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::cell_list(executor* threads, options_type const& options)
      : threads_(threads), options_(options),
        data_(std::make_unique<detail::cell_list_data<T, Dim>>())
  {}

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::build(strided<T const, Dim> const& targets,
                                strided<T const, Dim> const* sources, std::optional<double> cutoff)
  {
    if (!data_) data_ = std::make_unique<detail::cell_list_data<T, Dim>>(); // moved from
    auto& kept = data_->given;
    if (!cutoff && kept.is_batch) return build(targets, sources, kept);
    if (cutoff) detail::check_cell_options(static_cast<T>(*cutoff), options_);
    bool const keeps_box = !kept.is_batch && !kept.cells.empty(); // which update() may change
    auto given = detail::one_system(cutoff ? *cutoff : kept.cutoff(0),
                                    keeps_box ? kept.cells[0] : detail::box_of(options_));
    build(targets, sources, given);
  }

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::build(strided<T const, Dim> const& targets,
                                strided<T const, Dim> const* sources, systems<Dim> const& given)
  {
    if (!data_) data_ = std::make_unique<detail::cell_list_data<T, Dim>>(); // moved from
    auto kept = detail::kept(detail::threads_or_here(threads_), given, sources == nullptr);
    build(targets, sources, kept);
  }

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::build(strided<T const, Dim> const& targets,
                                strided<T const, Dim> const* sources,
                                detail::kept_systems<Dim>& given)
  {
    detail::build_cells(detail::threads_or_here(threads_), given, targets, sources, options_,
                        *data_);
  }

  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::~cell_list() = default;
  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>::cell_list(cell_list&&) noexcept = default;
  template <detail::cell_real T, int Dim>
  cell_list<T, Dim>& cell_list<T, Dim>::operator=(cell_list&&) noexcept = default;

  template <detail::cell_real T, int Dim>
  detail::cell_view<T, Dim> cell_list<T, Dim>::view() const&
  {
    detail::cell_list_data<T, Dim> const& data = *data_;
    std::size_t const last = data.one_set ? 0 : 1;
    detail::cell_view<T, Dim> view;
    view.systems = data.tables.systems;
    view.target_x = data.sorted[0].positions();
    view.source_x = data.sorted[last].positions();
    view.target_order = data.sorted[0].indices();
    view.source_order = data.sorted[last].indices();
    view.targets.offsets = data.offsets[0];
    view.sources.offsets = data.offsets[last];
    view.one_set = data.one_set;
    view.target_images = data.tables.counters[0];
    view.source_images = data.tables.counters[last];
    // a batch has a table of shifts for each system
    if (!data.given.is_batch) view.full.shifts = view.half.shifts = data.tables.shifts;
    view.full = data.lists.full.view(view.full.shifts);
    view.full_own_at = data.lists.full.own_at;
    if (data.one_set)
    {
      view.half = data.lists.half.view(view.half.shifts);
      view.half_own_at = data.lists.half.own_at;
    }
    return view;
  }

  template <detail::cell_real T, int Dim>
  std::size_t cell_list<T, Dim>::n_systems() const
  {
    return data_->tables.systems.size();
  }

  template <detail::cell_real T, int Dim>
  index_type cell_list<T, Dim>::size() const
  {
    return boxes{data_->offsets[0]}.size();
  }

  template <detail::cell_real T, int Dim>
  bool cell_list<T, Dim>::has_one_set() const
  {
    return data_->one_set;
  }

  template <detail::cell_real T, int Dim>
  detail::cell_grid<T, Dim> const& cell_list<T, Dim>::grid(std::size_t system) const&
  {
    return data_->tables.systems[system].grid;
  }

  template <detail::cell_real T, int Dim>
  std::span<std::array<double, 3> const> cell_list<T, Dim>::target_moves() const&
  {
    return data_->moves[0];
  }

  template <detail::cell_real T, int Dim>
  std::span<std::array<double, 3> const> cell_list<T, Dim>::source_moves() const&
  {
    return data_->moves[data_->one_set ? 0 : 1];
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::interactions() const&
  {
    check_shifts();
    return leaves(false).full;
  }

  template <detail::cell_real T, int Dim>
  interaction_list cell_list<T, Dim>::half_interactions() const&
  {
    check_shifts();
    return leaves(true).half;
  }

  template <detail::cell_real T, int Dim>
  void cell_list<T, Dim>::check_shifts() const
  {
    if (data_->given.is_batch && !data_->tables.shifts.empty())
      throw error("cell_list: each of several systems in periodic boxes has shifts of its own, "
                  "which one interaction list does not have; give the cell list itself to "
                  "near_field, or make a list of each system");
  }

  template <detail::cell_real T, int Dim>
  detail::leaf_groups_view cell_list<T, Dim>::leaves(bool half) const&
  {
    if (half && !has_one_set())
      throw error("cell_list: two sets have no half list; use interactions()");
    auto const all = view();
    detail::leaf_groups_view leaves;
    leaves.has_one_set = all.one_set;
    leaves.targets = all.targets;
    leaves.sources = all.sources;
    leaves.full = all.full;
    leaves.half = all.half;
    if (half && all.meets_several_images())
      leaves.half = data_->half_of_boxes.view(all.half.shifts);
    leaves.target_order = all.target_order;
    leaves.source_order = all.source_order;
    leaves.target_moves = target_moves();
    leaves.source_moves = source_moves();
    leaves.systems = data_->leaf_systems;
    leaves.ranges_may_coincide = data_->is_updated;
    return leaves;
  }

  template <detail::cell_real T, int Dim>
  bool cell_list<T, Dim>::moves_too_far(strided<T const, Dim> const& targets,
                                        strided<T const, Dim> const* sources,
                                        std::span<cell<Dim> const> cells) const
  {
    detail::cell_update<T, Dim> const moved(detail::threads_or_here(threads_), *data_, options_,
                                            {targets, sources ? *sources : targets}, !sources,
                                            cells);
    return !moved.fits();
  }

  template <detail::cell_real T, int Dim>
  bool cell_list<T, Dim>::update(strided<T const, Dim> const& targets,
                                 strided<T const, Dim> const* sources,
                                 std::span<cell<Dim> const> cells)
  {
    {
      detail::cell_update<T, Dim> moved(detail::threads_or_here(threads_), *data_, options_,
                                        {targets, sources ? *sources : targets}, !sources, cells);
      if (moved.take(*data_)) return false;
    }
    if (cells.empty())
      build(targets, sources, std::nullopt);
    else
    {
      auto given = data_->given;
      given.cells.assign(cells.begin(), cells.end());
      build(targets, sources, given);
    }
    return true;
  }

  template class cell_list<float, 2>;
  template class cell_list<float, 3>;
  template class cell_list<double, 2>;
  template class cell_list<double, 3>;
}
