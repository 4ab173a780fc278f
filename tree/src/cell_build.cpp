#include "cell_builder.hpp"

#include "gaps.hpp"
#include "images.hpp"
#include "instantiate.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace nearfield::detail
{
  template <int Dim>
  kept_systems<Dim> one_system(double cutoff, cell<Dim> const& box)
  {
    kept_systems<Dim> one;
    one.cutoffs = {cutoff};
    one.cells = {box};
    return one;
  }

  template <int Dim>
  kept_systems<Dim> kept(executor& on, systems<Dim> const& given, bool one_set)
  {
    check_systems("cell_list", given, one_set);
    check_order(on, "cell_list", "order", given.order, given.offsets.back());
    kept_systems<Dim> batch;
    batch.is_batch = true;
    auto const keep = [](auto& to, auto const& from)
    {
      to.assign(from.begin(), from.end());
    };
    std::size_t const first = one_set ? 0 : 1;
    keep(batch.offsets[first], given.offsets);
    keep(batch.order[first], given.order);
    if (!one_set)
    {
      check_order(on, "cell_list", "query_order", given.query_order, given.query_offsets.back());
      keep(batch.offsets[0], given.query_offsets);
      keep(batch.order[0], given.query_order);
    }
    keep(batch.cutoffs, given.cutoffs);
    keep(batch.cells, given.cells);
    if (batch.cells.empty()) batch.cells.emplace_back();
    return batch;
  }

  template <class T, int Dim>
  cell_builder<T, Dim>::cell_builder(executor& on, kept_systems<Dim>& given,
                                     two_sets<strided<T const, Dim>> const& points, bool one_set,
                                     cell_list_options<T, Dim> const& options,
                                     cell_list_data<T, Dim>& data)
      : on_(on), given_(given), points_(points), n_sets_(one_set ? 1 : 2), options_(options),
        data_(data)
  {
    if (given_.is_batch) check_batch();
    for (std::size_t k = 0; k < n_sets_ && !given_.is_batch; ++k)
      given_.offsets[k] = {0, static_cast<index_type>(points[k].size())};
    cut_parts();
    if (data_.parts.size() + 1 < first_.size()) data_.parts.resize(first_.size() - 1);
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::run()
  {
    find_bounds();
    make_grids();
    make_tables();
    std::swap(data_.tables, data_.spare);
    data_.one_set = n_sets_ == 1;
    data_.is_updated = false;
    try
    {
      sort_and_list();
    }
    catch (...)
    {
      // out of memory halfway: an empty list is better than parts that do not match
      make_empty();
      keep_systems();
      throw;
    }
    keep_systems();
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::check_batch() const
  {
    check_no_box("cell_list", options_);
    if ((n_sets_ == 2) == given_.offsets[1].empty())
      throw error(n_sets_ == 2 ? "cell_list: the systems are of one set, and queries are "
                                 "given; give systems with .query_offsets"
                               : "cell_list: the systems are of queries and points, and one "
                                 "set is given; give systems without .query_offsets");
    for (std::size_t k = 0; k < n_sets_; ++k)
      check_last("cell_list", name_of(k), given_.offsets[k], points_[k].size());
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::cut_parts()
  {
    std::size_t const n = given_.size();
    first_ = {0};
    if (workers_of(on_) == 1 || n < static_cast<std::size_t>(workers_of(on_)))
    {
      first_.push_back(static_cast<index_type>(n));
      return;
    }
    constexpr double of_system = 16; // it takes as long as these points
    constexpr int parts_of_thread = 4;
    std::vector<double> work(n + 1);
    for (std::size_t s = 0; s <= n; ++s)
    {
      work[s] = of_system * static_cast<double>(s);
      for (std::size_t k = 0; k < n_sets_; ++k) work[s] += given_.offsets[k][s];
    }
    cut_evenly(work, static_cast<index_type>(n),
               static_cast<std::size_t>(parts_of_thread * workers_of(on_)), first_);
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::gather(std::size_t set)
  {
    std::size_t const n = points_[set].size();
    renew(data_.gathered[set], Dim * n);
    auto const to = columns_in<Dim>(std::span(data_.gathered[set]), n);
    gather_columns(on_, given_.order[set], Dim, points_[set], to);
    points_[set] = soa<T const, Dim>(to);
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::find_bounds()
  {
    auto& systems = data_.spare.systems;
    systems.resize(given_.size());
    for (std::size_t k = 0; k < n_sets_; ++k)
    {
      data_.bounds[k].resize(given_.size());
      if (!given_.order[k].empty()) gather(k);
    }
    cell_frame<Dim> shared;
    if (given_.cells.size() == 1) shared = frame_of(given_.cells[0]);
    for_each_system(
        [&](executor& on, std::size_t s, std::size_t)
        {
          auto& frame = systems[s].grid.frame;
          frame = given_.cells.size() == 1 ? shared : frame_of(given_.cells[s]);
          for (std::size_t k = 0; k < n_sets_; ++k)
          {
            auto& bounds = data_.bounds[k][s];
            bounds = bounds_along(on, frame, given_points(k, s), name_of(k));
            bounds.moved = count(k, s) > 0 && !are_inside(frame, bounds);
          }
        });
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::make_grids()
  {
    auto& counters = data_.spare.counters;
    for (std::size_t k = 0; k < 2; ++k)
    {
      std::size_t const n = points_[k].size();
      bool const any = k < n_sets_ && std::ranges::any_of(
                                          data_.bounds[k], [](auto const& of) { return of.moved; });
      renew(counters[k], any ? n : 0);
      renew(data_.moved[k], any ? Dim * n : 0);
    }
    data_.spare.pieces.resize(given_.size());
    for_each_system(
        [&](executor& on, std::size_t s, std::size_t part)
        {
          auto& grid = data_.spare.systems[s].grid;
          auto const frame = grid.frame;
          for (std::size_t k = 0; k < n_sets_; ++k)
            if (!counters[k].empty()) move_inside(on, frame, s, k);
          auto const &targets = data_.bounds[0][s], &sources = data_.bounds[n_sets_ - 1][s];
          auto const& bounds = count(0, s) == 0             ? sources
                               : count(n_sets_ - 1, s) == 0 ? targets
                                                            : united(targets, sources);
          grid = make_cell_grid(bounds, static_cast<T>(given_.cutoff(s)), options_, frame);
          leave_gaps_out(on, s, data_.parts[part].sorting);
        });
    for (std::size_t k = 0; k < n_sets_; ++k)
      if (!counters[k].empty() && !given_.order[k].empty())
      {
        page_vector<image_counters<Dim>> by_index(counters[k].size());
        scatter_columns(on_, given_.order[k], 1, std::array{counters[k].data()},
                        std::array{by_index.data()});
        counters[k].swap(by_index);
      }
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::move_inside(executor& on, cell_frame<Dim> const& frame, std::size_t s,
                                         std::size_t k)
  {
    image_counters<Dim>* const of_system = data_.spare.counters[k].data() + begin(k, s);
    auto& bounds = data_.bounds[k][s];
    if (!bounds.moved)
    {
      std::fill_n(of_system, count(k, s), image_counters<Dim>());
      return;
    }
    bring_inside(on, frame, given_points(k, s), name_of(k),
                 columns_in<Dim>(std::span(data_.moved[k]), count(k, s), begin(k, s)), of_system);
    bounds = bounds_along(on, frame, inner_points(k, s), name_of(k));
    bounds.moved = true;
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::leave_gaps_out(executor& on, std::size_t s, sort_scratch& scratch)
  {
    auto& grid = data_.spare.systems[s].grid;
    for (int a = 0; a < Dim; ++a)
    {
      if (!has_wide_cells(grid, options_, a)) continue;
      std::size_t const n_sources = n_sets_ == 2 ? count(1, s) : 0;
      if (count(0, s) + n_sources > std::numeric_limits<index_type>::max()) return;
      auto const targets = inner_points(0, s);
      auto const sources = n_sets_ == 2 ? inner_points(1, s) : strided<T const, Dim>();
      sorted_axis const axis(on, targets[a], targets.size(), sources[a], n_sources, scratch);
      detail::leave_gaps_out(
          grid, options_, a, axis.spacing(crowd_of_cell),
          [&](double length) { return axis.gaps(length); }, data_.spare.pieces[s][a]);
    }
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::make_tables()
  {
    auto& [systems, pieces, shifts, images, counters] = data_.spare;
    std::size_t n = 0;
    for (auto const& system : systems) n += number_of(numbers_of(system.grid));
    shifts.resize(n);
    images.resize(n);
    n = 0;
    for (auto& system : systems)
    {
      std::size_t const own = number_of(numbers_of(system.grid));
      system.shifts = {};
      system.images = {};
      if (own == 0) continue; // null: writers know that there are none
      system.shifts = std::span(shifts).subspan(n, own);
      system.images = std::span(images).subspan(n, own);
      n += own;
    }
    for_each_system(
        [&](executor&, std::size_t s, std::size_t)
        {
          auto const& system = data_.spare.systems[s];
          std::size_t const own = system.images.size();
          if (own == 0) return;
          auto const first = system.images.data() - data_.spare.images.data();
          write_images<Dim>(system.grid.frame, numbers_of(system.grid),
                            {data_.spare.shifts.data() + first, own},
                            {data_.spare.images.data() + first, own});
        });
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::make_empty()
  {
    data_.sorted = {};
    data_.moves = {};
    data_.built_x = {};
    data_.offsets = {};
    data_.lists = {};
    data_.half_of_boxes = {};
    data_.leaf_systems.clear();
    data_.tables.counters = {};
    data_.parts = {};
    for (auto& system : data_.tables.systems) system.first_box = system.last_box = 0;
  }

  template <class T, int Dim>
  void build_cells(executor& on, kept_systems<Dim>& given, strided<T const, Dim> const& targets,
                   strided<T const, Dim> const* sources, cell_list_options<T, Dim> const& options,
                   cell_list_data<T, Dim>& data)
  {
    require_columns(targets, sources ? "queries" : "points");
    if (sources) require_columns(*sources, "points");
    cell_builder<T, Dim>(on, given, {targets, sources ? *sources : targets}, !sources, options,
                         data)
        .run();
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void build_cells(executor&, kept_systems<Dim>&, strided<T const, Dim> const&,           \
                            strided<T const, Dim> const*, cell_list_options<T, Dim> const&,        \
                            cell_list_data<T, Dim>&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template kept_systems<Dim> one_system(double, cell<Dim> const&);                                 \
  template kept_systems<Dim> kept(executor&, systems<Dim> const&, bool);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
